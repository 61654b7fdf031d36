internal import Dispatch
public import Foundation
public import Logging
internal import NIOCore
internal import NIOPosix
internal import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol
public import TomboloSyncSession
internal import TomboloWebSocket

/// Synchronises a device file with a gateway by performing the actions of ``ClientSession``. Calls into the file block
/// the engine's own thread, never a thread of Swift's pool.
public actor SyncEngine {
    /// How to reach and authenticate with a gateway.
    public struct Configuration: Sendable {
        /// The gateway's address, `ws://host:port/sync` or `wss://…`.
        public var url: URL
        /// A PEM file with the only certificate authorities to trust. Nil trusts the system's authorities.
        public var trustedCertificates: URL?
        /// Returns the user's current access token. Called for every connection.
        public var accessToken: @Sendable () async throws -> String
        /// Logs lost connections and errors of the device file.
        public var logger: Logger
        /// The timeout of a connection attempt, from the request for the access token to the gateway's first message.
        public var answerLimit: Duration
        /// The partition that the file synchronises with, or nil for a file with subscriptions.
        public var partition: Value?
        /// The file's name in traces, or nil if its writes aren't traced.
        public var file: String?

        public init(
            url: URL, trustedCertificates: URL? = nil, accessToken: @escaping @Sendable () async throws -> String,
            logger: Logger = Logger(label: "tombolo.sync"), answerLimit: Duration = SyncEngine.defaultAnswerLimit,
            partition: Value? = nil, file: String? = nil
        ) {
            self.file = file
            self.partition = partition
            self.url = url
            self.trustedCertificates = trustedCertificates
            self.accessToken = accessToken
            self.logger = logger
            self.answerLimit = answerLimit
        }
    }

    /// Longer than a gateway waits for its database.
    public static let defaultAnswerLimit = Duration.seconds(60)

    /// Changesets are encoded ahead of the network, up to about this many bytes.
    static let maximumUnwrittenByteCount = 1 << 20

    private struct PendingLoad {
        let after: Int64
        let maximumCount: Int
        let maximumByteCount: Int
    }

    private let queue: SyncQueueExecutor
    let configuration: Configuration
    /// Nil once closed.
    var store: (any DeviceStore)?
    let codec: MessageCodec
    let resets: ResetHandler
    private let onReport: @Sendable (ClientSession.Report) -> Void
    private var session: ClientSession
    private var connection: Task<Void, Never>?
    /// Numbers the connections, so that messages of an earlier connection are recognised.
    private var generation = 0
    private var outgoing: AsyncStream<[[UInt8]]>.Continuation?
    /// Messages of the event being handled. They are written together.
    private var unsent: [[UInt8]] = []
    /// The number of bytes that the network hasn't taken yet. Beyond ``maximumUnwrittenByteCount``, no changesets are
    /// loaded.
    private var unwrittenByteCount = 0
    private var waitingLoad: PendingLoad?
    /// Set from the latest welcome.
    var serverClock: ServerClock?
    /// Why the previous connection ended. Nil once a connection was opened.
    private var lastEnd: String?
    private var timer: Task<Void, Never>?
    /// Ends an unanswered connection attempt. Nil once the gateway has sent something.
    private var answerTimer: Task<Void, Never>?
    /// Events that arrived while another event was handled, oldest first. At most one per pending store action.
    var events: [ClientSession.Event] = []
    private var isHandling = false

    public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - makeStore: opens the device file. Only this engine uses the store.
    ///   - resets: the app's callbacks for client resets.
    ///   - onReport: called on the engine's thread; must not block.
    public init(
        configuration: Configuration, makeStore: @Sendable () throws -> any DeviceStore,
        resets: ResetHandler = ResetHandler(),
        onReport: @escaping @Sendable (ClientSession.Report) -> Void
    ) throws {
        queue = SyncQueueExecutor(label: "tombolo.sync")
        self.configuration = configuration
        let store = try makeStore()
        self.store = store
        self.resets = resets
        self.onReport = onReport
        codec = MessageCodec(schema: store.schema)
        session = ClientSession(schema: store.schema, partition: configuration.partition)
    }

    /// Connects, and reconnects whenever the connection is lost.
    public func start() {
        guard store != nil else { return }
        finishAppliedReset()
        handle(.start)
    }

    /// Disconnects until ``start()`` is called.
    public func stop() { handle(.stop) }

    /// Tells the engine that a local write transaction queued a changeset.
    public func changesetQueued() { handle(.changesetQueued) }

    /// Sends the subscriptions that the app stored in the file, as soon as there is a connection. Doesn't start the
    /// engine.
    public func subscriptionsChanged() throws {
        handle(.subscriptionsChanged(try openStore().state().wanted))
    }

    /// Stores the app's subscriptions and sends them.
    public func setSubscriptions(_ set: SubscriptionSet) throws {
        try openStore().setWantedSubscriptions(set)
        handle(.subscriptionsChanged(set))
    }

    /// The device's state.
    public func state() throws -> DeviceState { try openStore().state() }

    /// The server's refusals after the given id that the app hasn't been told of.
    public func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] {
        try openStore().untoldRefusals(after: id)
    }

    /// Forgets the refusals up to an id, because the app has been told of them.
    public func forgetRefusals(through id: Int64) throws { try openStore().forgetRefusals(through: id) }

    /// Stops for good and closes the device file. Once this returns, the engine no longer uses the file. Waits for the
    /// engine's current work, unless called from a report.
    public nonisolated func close() {
        queue.run { self.assumeIsolated { $0.closeStore() } }
    }

    private func closeStore() {
        handle(.stop)
        store = nil
    }

    func openStore() throws -> any DeviceStore {
        guard let store else { throw SyncEngineError.closed }
        return store
    }

    // MARK: Events and actions

    func handle(_ event: ClientSession.Event) {
        events.append(event)
        handleEvents()
    }

    private func handleEvents() {
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !events.isEmpty {
            for action in session.handle(events.removeFirst()) { perform(action) }
            send()
        }
    }

    private func send() {
        guard !unsent.isEmpty else { return }
        outgoing?.yield(unsent)
        unsent = []
    }

    /// Ignores messages of a connection that an earlier action has ended, because the next connection starts from the
    /// file's state.
    private func perform(_ action: ClientSession.Action) {
        switch action {
        case .connect: connect()
        case .disconnect: disconnect()
        case .wait(let duration): wait(duration)
        case .send(let message):
            guard outgoing != nil else { return }
            let bytes = encoded(message)
            unwrittenByteCount += bytes.count
            unsent.append(bytes)
        case .report(let report): onReport(report)
        case .stage(let frame):
            guard outgoing != nil else { return }
            perform { try openStore().stage(frame) }
        case .apply(let end, let frames):
            guard outgoing != nil else { return }
            do {
                events.append(.applied(try traced(end) { try apply(end, frames) }))
            } catch let error as RecoveryFailed {
                failRecovery(error)
            } catch {
                configuration.logger.warning("Couldn't apply a batch; fetching it again: \(error)")
                events.append(.applyFailed)
            }
        case .loadPending(let number, let count, let bytes):
            guard outgoing != nil else { return }
            waitingLoad = PendingLoad(after: number, maximumCount: count, maximumByteCount: bytes)
            loadIfWritten()
        case .refuseSubscriptions(let version, let reason):
            perform { try openStore().refuseSubscriptions(version: version, reason: reason) }
        case .resetStore(let reason): resetStore(reason)
        case .noteReset(let reason): noteReset(reason)
        }
    }

    private func loadIfWritten() {
        guard unwrittenByteCount <= Self.maximumUnwrittenByteCount, let load = waitingLoad else { return }
        waitingLoad = nil
        perform {
            events.append(
                .pending(
                    try openStore().pendingChangesets(
                        after: load.after, maximumCount: load.maximumCount, maximumByteCount: load.maximumByteCount)))
        }
    }

    private func wrote(_ byteCount: Int, _ number: Int) {
        guard number == generation else { return }
        unwrittenByteCount -= byteCount
        loadIfWritten()
        handleEvents()
    }

    /// Runs a store call. If the file fails, the connection ends, and the next connection starts from the file's state.
    private func perform(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            configuration.logger.error("The device file failed: \(error)")
            disconnect()
            events.append(.disconnected(random: 1))
        }
    }

    private func wait(_ duration: Duration) {
        timer?.cancel()
        timer = Task {
            try? await Task.sleep(for: duration)
            guard !Task.isCancelled else { return }
            handle(.retry)
        }
    }

    // MARK: The connection

    func disconnect() {
        generation += 1
        timer?.cancel()
        stopAnswerTimer()
        send()
        outgoing?.finish()
        outgoing = nil
        unwrittenByteCount = 0
        waitingLoad = nil
        connection?.cancel()
        connection = nil
    }

    private func connect() {
        disconnect()
        let number = generation
        // The protocol bounds the stream: hello, one message per batch, and changesets up to the limit of unwritten
        // bytes.
        let (messages, continuation) = AsyncStream.makeStream(of: [[UInt8]].self)
        outgoing = continuation
        connection = Task { await self.runConnection(number, messages) }
        answerTimer = Task {
            try? await Task.sleep(for: configuration.answerLimit)
            guard !Task.isCancelled else { return }
            endUnanswered()
        }
    }

    private func stopAnswerTimer() {
        answerTimer?.cancel()
        answerTimer = nil
    }

    private func endUnanswered() {
        reportEnd("\(SyncEngineError.noAnswer(within: configuration.answerLimit))")
        disconnect()
        handle(.disconnected(random: .random(in: 0..<1)))
    }

    private func runConnection(_ number: Int, _ outgoing: AsyncStream<[[UInt8]]>) async {
        do {
            let token = try await configuration.accessToken()
            guard let host = configuration.url.host() else { throw SyncEngineError.badURL(configuration.url) }
            let usesTLS = configuration.url.scheme == "wss"
            let socket = try await MessageSocket.connect(
                host: host, port: configuration.url.port ?? (usesTLS ? 443 : 80), path: configuration.url.path(),
                usesTLS: usesTLS, trustedCertificates: configuration.trustedCertificates?.path(percentEncoded: false),
                group: MultiThreadedEventLoopGroup.singleton)
            let tasks = queue.tasks
            try await socket.run { messages, writer in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // Both tasks call the engine for every message. On other executors each call would wake another
                    // thread.
                    group.addTask(executorPreference: tasks) {
                        for await messages in outgoing {
                            try await writer.write(messages)
                            await self.wrote(messages.reduce(0) { $0 + $1.count }, number)
                        }
                    }
                    group.addTask(executorPreference: tasks) { try await self.receive(messages, number, token) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } catch is CancellationError {
        } catch {
            reportEnd("\(error)")
        }
        if number == generation { handle(.disconnected(random: .random(in: 0..<1))) }
    }

    /// An offline device retries for hours, so a repeated reason isn't logged again.
    private func reportEnd(_ reason: String) {
        guard reason != lastEnd else { return }
        lastEnd = reason
        configuration.logger.notice(
            "Can't connect to \(configuration.url): \(reason.sentence) Retrying.")
    }

    private func opened(_ number: Int, _ token: String) throws {
        guard number == generation else { throw CancellationError() }
        lastEnd = nil
        handle(.connected(try openStore().state(), accessToken: token))
    }

    private func receive(_ messages: MessageStream, _ number: Int, _ token: String) async throws {
        try opened(number, token)
        var iterator = messages.makeAsyncIterator()
        while let arrived = try await iterator.nextArrived() { try received(arrived, number) }
    }

    private static let steadyOrigin = ContinuousClock.now

    static var steadyMicroseconds: Int64 { Int64((ContinuousClock.now - steadyOrigin) / .microseconds(1)) }

    /// Handles messages that arrived together. If one can't be read, those before it still count.
    ///
    /// Not inlined, because optimising its typed error within an asynchronous function crashes the Swift 6.3.1
    /// compiler.
    @inline(never)
    private func received(_ arrived: [ByteBuffer], _ number: Int) throws {
        guard number == generation else { throw CancellationError() }
        stopAnswerTimer()
        var messages: [ServerMessage] = []
        do {
            for bytes in arrived {
                let message = try codec.decodeServerMessage(Array(bytes.readableBytesView))
                if case .welcome(let welcome) = message {
                    serverClock = ServerClock(welcome.serverTime, at: Self.steadyMicroseconds)
                }
                messages.append(message)
            }
        } catch {
            handle(.messages(messages))
            throw error
        }
        handle(.messages(messages))
    }
}

/// Why an engine can't do what was requested.
public enum SyncEngineError: Error, Sendable, CustomStringConvertible {
    /// The configured address can't be used.
    case badURL(URL)
    /// The access token or the gateway's first message didn't arrive in time.
    case noAnswer(within: Duration)
    /// The engine was closed.
    case closed

    public var description: String {
        switch self {
        case .badURL(let url): "'\(url)' isn't a gateway URL: expected ws://host:port/sync or wss://…"
        case .noAnswer(let limit): "No access token, or no answer from the gateway, within \(limit)."
        case .closed: "The device file is no longer synchronised, because it was closed to be deleted or reopened."
        }
    }
}
