internal import Logging
internal import NIOCore
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Runs one ``ServerSession`` on a connection: passes it events and performs its actions.
///
/// It lives on the connection's event loop, which is its executor, so events from the network and the feed are
/// handled where they arrive, without a task. Only work that waits for the database or takes long uses a task, and an
/// idle session has none. Time comes from the event loop's ``SessionClock``.
actor SessionRunner {
    /// The most bytes that a device may send before its session is open: a hello, and the frames around it.
    static let openingByteCount = MessageCodec.maximumControlByteCount + (64 << 10)
    /// Messages up to this many bytes are decoded on the event loop. Decoding longer ones would keep other sessions
    /// waiting.
    static let maximumQuickByteCount = 16 << 10

    /// What the gateway provides to every session.
    struct Services: Sendable {
        let generations: Generations
        let uploadBudget: UploadBudget
        let reads: ReadSlots
        /// A single slot for matching and decoding that take long. They leave the gateway's other threads to
        /// everybody else, and users take turns.
        let heavyWork: ReadSlots
        /// For expensive work that a user's devices can request again and again.
        let pace = UserPace()
        let spools: SpoolBudget
        let clocks: SessionClocks
        let limits: SessionLimits
        let metrics: GatewayMetrics
    }

    /// What the user of an open session may see and do, and where that is known from.
    struct Authority {
        let accessToken: String
        let user: String
        /// The session's partition, which never changes.
        let partition: Value?
        var rulesFingerprint: UInt64
        /// Includes all changes of what the user may do up to this tick.
        var tick: Int64
        /// The time just before the last lookup that succeeded.
        var askedAt: ContinuousClock.Instant
    }

    /// Who the device is. Known before the rest of its hello is decoded.
    struct Admission {
        let accessToken: String
        let authority: SessionAuthority
        /// The generation whose classes the authority refers to.
        let generation: Generation
        let tick: Int64
        let askedAt: ContinuousClock.Instant
    }

    nonisolated let eventLoop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    let services: Services
    /// Unique among the gateway's sessions.
    nonisolated let number: UInt64
    /// The device's IP address, or empty if there is none.
    let address: String
    let connectedAt: NIODeadline
    let logger: Logger
    let socket: ServerSocket
    let clock: SessionClock
    var clockPlace: SessionClock.Place?

    var session = ServerSession(schema: .empty)
    var codec = MessageCodec(schema: .empty)
    /// The session's place in a generation, chosen when the device says hello.
    var seat: Generations.Seat?
    var isAdmitted = false
    /// Set until the session is open.
    var admission: Admission?
    /// From the device's hello.
    var partition: Value?
    /// The work between hello and the first batch.
    var authenticating: Task<Void, Never>?
    var opening: Task<Void, Never>?
    var didOpen = false
    var authority: Authority? {
        didSet { count(authority?.user, insteadOf: oldValue?.user) }
    }
    /// Who the session's work is for. Nil before its user is known.
    var peer: Peer? { authority.map { peer($0.user) } }
    /// Who the device's messages are from. Known since its hello, even before the gateway knows what the user may do
    /// in the partition.
    var sender: Peer { peer(authority?.user ?? admission?.authority.user ?? "") }
    var nextAuthorityCheck: NIODeadline
    var checking: Task<Void, Never>?
    /// How often the feed reported that what the user may do may have changed.
    var authorityNews = 0
    var isFollowingAuthority = false
    /// The feed's progress on this event loop. Nil until the session has followed the feed once.
    var position: FeedPosition?
    /// A lookup was tried for the session, so the feed tells it about ticks whatever the result was.
    var mayFollowUnchecked = false
    /// The session is moving to another generation and has no other work in progress.
    var isMoving = false
    /// How often generations told the session to move.
    var holdCount = 0

    // Receiving
    /// Messages that were read before the network was told to pause.
    var inbox: [ByteBuffer] = []
    var isTakingNext = false
    var taking: Task<Void, Never>?
    var heardAt: NIODeadline
    var countedPingsAt: NIODeadline
    /// The session's part of the gateway's ``UploadBudget``: for uploads that wait, and for uploads in progress.
    var waitingUploadByteCount = 0
    var uploadingByteCount = 0
    var uploading: Task<Void, Never>?

    // Sending
    var needsFlush = false
    var isEnding = false
    /// Bytes written to the socket since the session began.
    var writtenByteCount = 0
    /// The frames of a batch that the device hasn't taken yet.
    var spool: Spool?
    /// Messages to send after those frames.
    var afterSpool: [ByteBuffer] = []
    var isDraining = false
    var isCongested = false
    var reading: Task<Void, Never>?
    /// The subscriptions that the last batch was read with. Nil before the first batch.
    var readSubscriptionVersion: Int64?
    /// Counts the reads. The result of a read that gave way to another is ignored.
    var readNumber = 0
    /// A batch that waits until the device has taken the previous one.
    var waitingRead: ReadRequest?
    /// Whether reading a batch waits for the device to take what was sent.
    var isReadWaitingForDevice = false
    var stall = Stall(takenByteCount: 0, since: .now())

    /// When the device began to take next to nothing, and how much it had taken by then.
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

    /// Called after events were handled.
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
        // A finished task is set to nil, because a task keeps its memory as long as it is referenced.
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
            // Everything that waited.
            let byteCount = waitingUploadByteCount
            uploadingByteCount += byteCount
            waitingUploadByteCount = 0
            uploading = Task { await self.upload(changesets, authority, holding: byteCount) }
        case .follow(let number, let after, let view): follow(number, after, view)
        case .unfollow(let number): seat?.generation.feed.send(.unfollow(FeedMember(session: self, number: number)))
        }
    }

    /// A connection that ends cancels its work in progress. That isn't a failure.
    func fail(_ error: any Error, doing what: String) {
        guard !(error is CancellationError), !Task.isCancelled, !session.isClosed else { return }
        logger.warning("Ending the session: \(what) failed: \(error)")
        handle(
            .failed(
                SessionFailure(.unavailable, "The gateway can't reach its database; try again.", isRetryable: true)))
    }

    // MARK: Ending

    func count(_ user: String?, insteadOf other: String?) {
        guard user != other else { return }
        if let user { services.generations.users.enter(peer(user)) }
        if let other { services.generations.users.leave(peer(other)) }
    }

    nonisolated func peer(_ user: String) -> Peer { Peer(user, from: address) }

    /// Nothing is written any more, so this releases everything that the session holds.
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

    /// The devices of a gateway that shuts down move to another gateway gradually, not all at once.
    nonisolated func shouldClose() {
        assumeIsolated { runner in
            let delay = TimeAmount(runner.services.limits.drainTime * .random(in: 0...1))
            runner.eventLoop.scheduleTask(in: delay) { [socket = runner.socket] in socket.close(.goingAway) }
        }
    }

    nonisolated func closed() { assumeIsolated { $0.release() } }
}
