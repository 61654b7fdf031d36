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
    let clock: SessionClock
    var clockPlace: SessionClock.Place?

    var session = ServerSession(schema: .empty)
    var codec = MessageCodec(schema: .empty)
    /// Where the session belongs: chosen when the device says hello.
    var seat: Generations.Seat?
    var isAdmitted = false
    /// Until the session is open.
    var admission: Admission?
    /// As the device's hello says it.
    var partition: Value?
    /// What happens between hello and the first batch.
    var authenticating: Task<Void, Never>?
    var opening: Task<Void, Never>?
    var didOpen = false
    var authority: Authority? {
        didSet { count(authority?.user, insteadOf: oldValue?.user) }
    }
    /// Whose work the session's is; nil before its user is known.
    var peer: Peer? { authority.map { peer($0.user) } }
    /// Whose the device's messages are: known since its hello, before what the user may do in the partition is.
    var sender: Peer { peer(authority?.user ?? admission?.authority.user ?? "") }
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
    var inbox: [ByteBuffer] = []
    var isTakingNext = false
    var taking: Task<Void, Never>?
    var heardAt: NIODeadline
    var countedPingsAt: NIODeadline
    /// What the session holds of the gateway's ``UploadBudget``: of uploads that wait, and of those under way.
    var waitingUploadByteCount = 0
    var uploadingByteCount = 0
    var uploading: Task<Void, Never>?

    // Sending
    var needsFlush = false
    var isEnding = false
    /// Written to the socket since the session began, in bytes.
    var writtenByteCount = 0
    /// The frames of a batch that the device has not taken yet.
    var spool: Spool?
    /// What follows them.
    var afterSpool: [ByteBuffer] = []
    var isDraining = false
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
    var stall = Stall(takenByteCount: 0, since: .now())

    /// Since when the device has taken next to nothing, and what it had taken then.
    struct Stall {
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

    // MARK: Ending

    func count(_ user: String?, insteadOf other: String?) {
        guard user != other else { return }
        if let user { services.generations.users.enter(peer(user)) }
        if let other { services.generations.users.leave(peer(other)) }
    }

    nonisolated func peer(_ user: String) -> Peer { Peer(user, from: address) }

    /// Nothing is written any more: lets go of all that the session has.
    func release() {
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
