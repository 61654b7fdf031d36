internal import Logging
internal import NIOCore
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Runs one ``ServerSession`` on a connection: brings it events and performs its actions.
///
/// It lives on the connection's event loop, which is its executor: what comes from the network and from the feed is handled
/// where it arrives, without a task. Only what waits for the database, or takes long, is a task, and an idle session has
/// none. Time comes from the event loop's ``SessionClock``.
actor SessionRunner {
    /// What a device may send before its session is open, in bytes: a hello, and the frames around it.
    static let openingByteCount = MessageCodec.maximumControlByteCount + (64 << 10)
    /// Up to this size, in bytes, a message is decoded on the event loop; decoding a longer one would keep others waiting.
    static let maximumQuickByteCount = 16 << 10

    /// What the gateway gives every session.
    struct Services: Sendable {
        let generations: Generations
        let uploadBudget: UploadBudget
        let reads: ReadSlots
        /// One slot, for matching and decoding that take long: they leave the gateway's other threads to everybody else, and
        /// users take turns.
        let heavyWork: ReadSlots
        /// For what a user's devices can ask for again and again, and that costs much each time.
        let pace = UserPace()
        let spools: SpoolBudget
        let clocks: SessionClocks
        let limits: SessionLimits
        let metrics: GatewayMetrics
    }

    /// What the user of an open session may see and do, and who said so.
    struct Authority {
        let accessToken: String
        let user: String
        /// The partition that the session is in, for as long as it lasts.
        let partition: Value?
        var rulesFingerprint: UInt64
        /// Changes of what the user may do up to this tick are in it.
        var tick: Int64
        /// Before the last look-up that was answered.
        var askedAt: ContinuousClock.Instant
    }

    /// Who the device is: known before anything of its hello is built.
    struct Admission {
        let accessToken: String
        let authority: SessionAuthority
        /// The generation whose classes the authority is about.
        let generation: Generation
        let tick: Int64
        let askedAt: ContinuousClock.Instant
    }

    nonisolated let eventLoop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    let services: Services
    /// Counts the gateway's sessions.
    nonisolated let number: UInt64
    /// The device's IP address; empty if there is none.
    let address: String
    let connectedAt: NIODeadline
    let logger: Logger
    let socket: ServerSocket
    private let clock: SessionClock
    private var clockPlace: SessionClock.Place?

    var session = ServerSession(schema: .empty)
    var codec = MessageCodec(schema: .empty)
    /// Where the session belongs: chosen when the device says hello.
    var seat: Generations.Seat?
    private var isAdmitted = false
    /// Until the session is open.
    var admission: Admission?
    /// As the device's hello says it.
    var partition: Value?
    /// What happens between hello and the first batch.
    private var authenticating: Task<Void, Never>?
    private var opening: Task<Void, Never>?
    var didOpen = false
    var authority: Authority? {
        didSet { count(authority?.user, insteadOf: oldValue?.user) }
    }
    /// Whose work the session's is; nil before its user is known.
    var peer: Peer? { authority.map { peer($0.user) } }
    var nextAuthorityCheck: NIODeadline
    var checking: Task<Void, Never>?
    /// How often the feed said that what the user may do may have changed.
    var authorityNews = 0
    var isFollowingAuthority = false
    /// Where the feed has come on this event loop; nil until the session was followed once.
    var position: FeedPosition?
    /// A look-up was tried for the session: the feed tells it of ticks whatever came of it.
    var mayFollowUnchecked = false
    /// The session is moving to another generation, with nothing under way any more.
    var isMoving = false
    /// How often generations said so.
    var holdCount = 0

    // Receiving
    /// Messages that were read from the network before it was told to pause.
    private var inbox: [ByteBuffer] = []
    private var isTakingNext = false
    private var taking: Task<Void, Never>?
    var heardAt: NIODeadline
    private var countedPingsAt: NIODeadline
    /// What the session holds of the gateway's ``UploadBudget``: of uploads that wait, and of those under way.
    var waitingUploadByteCount = 0
    var uploadingByteCount = 0
    var uploading: Task<Void, Never>?

    // Sending
    private var needsFlush = false
    private var isEnding = false
    /// Written to the socket since the session began, in bytes.
    private var writtenByteCount = 0
    /// The frames of a batch that the device has not taken yet.
    var spool: Spool?
    /// What follows them.
    private var afterSpool: [ByteBuffer] = []
    private var isDraining = false
    var isCongested = false
    var reading: Task<Void, Never>?
    /// The subscriptions that the last batch was read with; nil before the first.
    var readSubscriptionVersion: Int64?
    /// Counts the reads: one that gave way to another is of no more interest.
    var readNumber = 0
    /// A batch that waits until the device has taken the one before.
    var waitingRead: ReadRequest?
    /// The reading of a batch waits for its device to take what was sent.
    var isReadWaitingForDevice = false
    private var stall = Stall(takenByteCount: 0, since: .now())

    /// Since when the device has taken next to nothing, and what it had taken then.
    private struct Stall {
        var takenByteCount: Int
        var since: NIODeadline
    }

    /// Call on the socket's event loop.
    init(services: Services, socket: ServerSocket, address: String = "", logger: Logger) {
        self.services = services
        self.address = address
        number = services.clocks.nextNumber()
        self.socket = socket
        self.logger = logger
        eventLoop = socket.channel.eventLoop
        clock = services.clocks.clock(of: socket.channel.eventLoop)
        let now = NIODeadline.now()
        connectedAt = now
        heardAt = now
        countedPingsAt = now
        nextAuthorityCheck = now + TimeAmount(services.limits.authorityInterval * .random(in: 0.75...1.25))
    }

    /// Serves the connection from now on, until either side ends it. Call on its event loop.
    nonisolated func start() {
        assumeIsolated { $0.clockPlace = $0.clock.add($0) }
        socket.start(self)
    }

    // MARK: Events

    func handle(_ event: ServerSession.Event) {
        if let position { session.reach(position.tick) }
        let actions = session.handle(event)
        if codec.names != session.deviceNames { codec = MessageCodec(schema: codec.schema, names: session.deviceNames) }
        for action in actions { perform(action, sharing: nil) }
        settle()
    }

    /// After events were handled.
    func settle() {
        flush()
        moveIfPossible()
        takeNext()
    }

    func perform(_ action: ServerSession.Action, sharing content: LiveContent?) {
        switch action {
        case .send(let message): send(message)
        case .sendFrames(let frames): send(frames, content?.messages ?? LiveContent.buffers(frames))
        case .close: end()
        // A task that has ended is forgotten: it keeps its memory for as long as anybody knows it.
        case .authenticate(let accessToken):
            authenticating = Task {
                await self.authenticate(accessToken)
                self.authenticating = nil
            }
        case .open(let client, let user, let acknowledged, let position):
            opening = Task {
                await self.open(client, user, acknowledged, position)
                self.opening = nil
            }
        case .read(let request): read(request)
        case .upload(let changesets, let authority):
            // All that waited.
            let byteCount = waitingUploadByteCount
            uploadingByteCount += byteCount
            waitingUploadByteCount = 0
            uploading = Task { await self.upload(changesets, authority, holding: byteCount) }
        case .follow(let number, let after, let view): follow(number, after, view)
        case .unfollow(let number): seat?.generation.feed.send(.unfollow(FeedMember(session: self, number: number)))
        }
    }

    /// A connection that ends cancels the work under way for it. That isn't a failure.
    func fail(_ error: any Error, doing what: String) {
        guard !(error is CancellationError), !Task.isCancelled, !session.isClosed else { return }
        logger.warning("The session ends: \(what) failed: \(error)")
        handle(
            .failed(
                SessionFailure(.unavailable, "The gateway cannot reach its database; try again.", isRetryable: true)))
    }

    // MARK: Receiving

    private func take(_ message: ByteBuffer) {
        services.metrics.received(byteCount: message.readableBytes)
        // What comes while the session ends is not looked at.
        guard !session.isClosed else { return }
        guard didOpen || message.readableBytes <= MessageCodec.maximumControlByteCount else {
            return handle(
                .failed(
                    SessionFailure(
                        .tooLarge,
                        "Before its session is open, a device's message has at most "
                            + "\(MessageCodec.maximumControlByteCount) bytes.")))
        }
        inbox.append(message)
        takeNext()
    }

    /// Takes the messages that are there, one at a time and in order, while the session can.
    func takeNext() {
        // What is taken leads here again; the loop below goes on with the next.
        guard !isTakingNext else { return }
        isTakingNext = true
        defer { isTakingNext = false }
        while taking == nil, !inbox.isEmpty, !session.isUploadBacklogged, !session.awaitsMove {
            let message = inbox.removeFirst()
            guard !session.isClosed else { continue }
            let bytes = Array(message.readableBytesView)
            if didOpen, bytes.count <= Self.maximumQuickByteCount, !MessageCodec.isUpload(bytes) {
                handle(decoded(bytes, with: codec))
            } else {
                taking = Task {
                    await self.takeSlowly(bytes)
                    self.taking = nil
                    self.takeNext()
                }
            }
        }
        if taking == nil, inbox.isEmpty { socket.resume() } else { socket.pause() }
    }

    private nonisolated func decoded(_ bytes: [UInt8], with codec: MessageCodec) -> ServerSession.Event {
        do throws(ProtocolError) {
            return .message(try codec.decodeClientMessage(bytes))
        } catch {
            return .failed(error.failure)
        }
    }

    /// Decodes a long message in the user's turn, off the event loop. Uploads have their own bounds; of others a user's devices
    /// send as many as ``UserPace`` allows.
    /// - Returns: nil if the session ended before.
    private func decodedInTurn(_ bytes: [UInt8]) async -> ServerSession.Event? {
        let peer = peer(authority?.user ?? admission?.authority.user ?? "")
        let codec = codec
        if MessageCodec.isUpload(bytes) {
            return try? await services.heavyWork.run(peer, progress: { .independent }) {
                self.decoded(bytes, with: codec)
            }
        }
        let decoded = try? await services.pace.run(peer.user) { [heavyWork = services.heavyWork] in
            let decoded = try? await heavyWork.run(peer, progress: { .independent }) {
                let began = ContinuousClock.now
                return (self.decoded(bytes, with: codec), took: began.duration(to: .now))
            }
            return (decoded?.0, took: decoded?.took ?? .zero)
        }
        return decoded ?? nil
    }

    private func takeSlowly(_ bytes: [UInt8]) async {
        if !isAdmitted {
            admission = await admit(bytes)
            isAdmitted = admission != nil
            guard isAdmitted, !session.isClosed else { return }
        }
        // What is built of an upload takes many times its bytes: it has its place in the budget first.
        if MessageCodec.isUpload(bytes) {
            guard (try? await services.uploadBudget.admit(bytes.count, of: peer(authority?.user ?? ""))) != nil else {
                return
            }
            waitingUploadByteCount += bytes.count
        }
        let event = bytes.count <= Self.maximumQuickByteCount ? decoded(bytes, with: codec) : await decodedInTurn(bytes)
        guard let event, !session.isClosed else { return await releaseWaitingUploads() }
        if case .message(.hello(let hello)) = event, !(await take(hello)) { return }
        handle(event)
        await releaseDroppedUploads()
    }

    // MARK: Sending

    private func send(_ message: ServerMessage) {
        // After the session's last words nothing is of use.
        guard !isEnding else { return }
        switch message {
        case .failure, .reset:
            services.metrics.ended(with: message)
            dropSpool()
        default: break
        }
        let bytes = codec.encode(message)
        guard bytes.count <= MessageCodec.maximumMessageByteCount else { return fail(oversized: []) }
        write(ByteBuffer(bytes: bytes))
    }

    private func send(_ frames: SharedFrames, _ messages: [ByteBuffer]) {
        guard !isEnding else { return }
        if let oversized = frames.oversized { return fail(oversized: oversized) }
        for message in messages { write(message) }
    }

    /// Frames are cut by size, so that only a single row can be beyond a message: the device would come back for it
    /// without end.
    func fail(oversized classes: Set<String>) {
        handle(
            .failed(
                SessionFailure(
                    .tooLarge,
                    "An object of \(classes.sorted().joined(separator: ", ")) is larger than a message, which has at most "
                        + "\(MessageCodec.maximumMessageByteCount) bytes. Make it smaller on the server, or subscribe to less."
                )))
    }

    private func write(_ message: ByteBuffer) {
        if spool != nil {
            afterSpool.append(message)
        } else {
            count(message)
            socket.write(message)
            needsFlush = true
        }
    }

    private func count(_ message: ByteBuffer) {
        writtenByteCount += message.readableBytes
        services.metrics.sent(byteCount: message.readableBytes)
    }

    private func flush() {
        guard needsFlush else { return }
        needsFlush = false
        socket.flush()
    }

    /// Says what the session has to say last.
    private func end() {
        guard !isEnding else { return }
        isEnding = true
        flush()
        cancelWork()
        socket.close(.normal)
    }

    /// Nobody waits any more for what is under way. Uploads go on: they were taken. Those that still wait give their place to
    /// the same ones from a later session of the device.
    private func cancelWork() {
        authenticating?.cancel()
        opening?.cancel()
        taking?.cancel()
        checking?.cancel()
        reading?.cancel()
        uploading?.cancel()
    }

    /// The session's view of whether the device takes data: not before it has taken a batch that was read for it.
    private func noteWritability() {
        let isFull = spool != nil || !socket.isWritable
        guard isFull != isCongested else { return }
        isCongested = isFull
        handle(.writable(!isFull))
    }

    // MARK: Spools

    func begin(_ spool: Spool) {
        self.spool = spool
        noteWritability()
    }

    func dropSpool() {
        guard let spool else { return }
        self.spool = nil
        afterSpool = []
        Task { await spool.discard() }
    }

    /// Sends what the device takes of the batch that is read for it.
    func drain() {
        guard !isDraining, spool != nil, socket.isWritable else { return }
        isDraining = true
        Task { await self.drainSpool() }
    }

    private func drainSpool() async {
        defer { isDraining = false }
        while let spool, socket.isWritable, !isEnding {
            let messages: [ByteBuffer]
            do {
                messages = try await spool.next()
            } catch {
                return fail(error, doing: "reading a batch back from the disk")
            }
            guard self.spool === spool, !isEnding else { return }
            guard !messages.isEmpty else {
                if reading == nil { finishSpool() }
                return
            }
            for message in messages {
                count(message)
                socket.write(message)
            }
            socket.flush()
        }
    }

    /// The device has been sent all of a batch.
    private func finishSpool() {
        dropSpoolKeepingRest()
        noteWritability()
        flush()
        if let request = waitingRead {
            waitingRead = nil
            read(request)
        }
    }

    private func dropSpoolKeepingRest() {
        let rest = afterSpool
        dropSpool()
        for message in rest { write(message) }
    }

    // MARK: Time

    /// About every ``ServerSession/heartbeatSeconds``.
    func beat() {
        let now = NIODeadline.now()
        if taking != nil || !inbox.isEmpty { heardAt = now }
        guard now - heardAt < TimeAmount(services.limits.silenceLimit) else { return socket.drop() }
        if now - countedPingsAt >= TimeAmount(MessageSocket.pingInterval) {
            countedPingsAt = now
            socket.countPingsAnew()
        }
        watchProgress(now)
        if now >= nextAuthorityCheck {
            nextAuthorityCheck = now + TimeAmount(services.limits.authorityInterval * .random(in: 0.75...1.25))
            keepAuthority()
        }
        let written = writtenByteCount
        handle(.heartbeat)
        // What the session sends with a heartbeat, the device answers.
        guard writtenByteCount == written, now - heardAt >= TimeAmount(services.limits.pingDelay) else { return }
        if socket.isWritable { socket.ping() }
    }

    /// Ends a batch whose device takes nothing, though it may say that it is there; and a connection that does not even
    /// take the session's last words. A device that stands still otherwise costs a bounded buffer and may stay.
    private func watchProgress(_ now: NIODeadline) {
        let limits = services.limits
        let pending = socket.pendingByteCount
        let taken = writtenByteCount - pending
        let isWaiting = pending > 0 && (spool != nil || isEnding)
        guard isWaiting, taken < stall.takenByteCount + limits.minimumProgressByteCount else {
            stall = Stall(takenByteCount: taken, since: now)
            return
        }
        guard now - stall.since >= TimeAmount(limits.writeStallLimit) else { return }
        guard !isEnding else { return socket.drop() }
        handle(
            .failed(
                SessionFailure(
                    .unavailable,
                    "The device took next to nothing for \(limits.writeStallLimit) of a batch that was read for it.",
                    isRetryable: true)))
        stall.since = now
    }

    /// What the device has taken so far, in bytes.
    func takenByteCount() async -> Int {
        if let confirmed = try? await socket.confirmedByteCount() { return confirmed }
        return writtenByteCount - socket.pendingByteCount
    }

    // MARK: Ending

    private func count(_ user: String?, insteadOf other: String?) {
        guard user != other else { return }
        if let user { services.generations.users.enter(peer(user)) }
        if let other { services.generations.users.leave(peer(other)) }
    }

    nonisolated func peer(_ user: String) -> Peer { Peer(user, from: address) }

    /// Nothing is written any more: lets go of all that the session has.
    private func release() {
        isEnding = true
        if let place = clockPlace { clock.remove(place) }
        clockPlace = nil
        handle(.failed(SessionFailure(.unavailable, "The connection ended.", isRetryable: true)))
        inbox = []
        cancelWork()
        waitingRead = nil
        dropSpool()
        count(nil, insteadOf: authority?.user)
        if let seat, let user = authority?.user { seat.generation.feed.send(.leave(self, user: user)) }
        let seat = seat
        self.seat = nil
        Task {
            await self.releaseWaitingUploads()
            if let seat { await self.services.generations.leave(seat) }
        }
    }
}

extension SessionRunner: MessageReceiver {
    nonisolated func received(_ message: ByteBuffer) { assumeIsolated { $0.take(message) } }

    nonisolated func heard() { assumeIsolated { $0.heardAt = .now() } }

    nonisolated func writabilityChanged(to isWritable: Bool) {
        assumeIsolated {
            $0.noteWritability()
            $0.drain()
        }
    }

    /// Devices of a gateway that shuts down come to another one, not all at once.
    nonisolated func shouldClose() {
        assumeIsolated { runner in
            let delay = TimeAmount(runner.services.limits.drainTime * .random(in: 0...1))
            runner.eventLoop.scheduleTask(in: delay) { [socket = runner.socket] in socket.close(.goingAway) }
        }
    }

    nonisolated func closed() { assumeIsolated { $0.release() } }
}
