internal import Logging
internal import NIOCore
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Runs one ``ServerSession`` on a connection: performs its actions and brings it events. Holds no more than
/// ``highWater`` bytes for a device that does not read.
actor SessionRunner {
    /// With more than this to be written, in bytes, no further ticks are pulled and reads wait.
    static let highWater = 1 << 20
    static let lowWater = 256 << 10
    /// A device has this long to say hello and to be authenticated.
    static let openingTimeout = Duration.seconds(15)

    /// What the gateway gives every session.
    struct Services: Sendable {
        let store: any ServerStore
        let feed: TickFeed
        let uploads: UploadQueue
        let reads: ReadSlots
        let authorize: @Sendable (String) async throws -> SessionAuthority
    }

    private let services: Services
    private let codec: MessageCodec
    private let logger: Logger
    private var session: ServerSession
    private var outbox: [[UInt8]] = []
    private var outboxByteCount = 0
    private var isCongested = false
    private var shouldClose = false
    private var didOpen = false
    private var writerWaiting: CheckedContinuation<Void, Never>?
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private let jobs: AsyncStream<@Sendable () async -> Void>
    private let addJob: AsyncStream<@Sendable () async -> Void>.Continuation

    init(services: Services, logger: Logger) {
        self.services = services
        self.logger = logger
        codec = MessageCodec(schema: services.store.schema)
        session = ServerSession(schema: services.store.schema)
        // Bounded by the session: one read, one upload, one pull and one opening at a time.
        (jobs, addJob) = AsyncStream.makeStream()
    }

    /// Serves the connection until either side ends it.
    func run(_ messages: MessageStream, _ writer: MessageWriter) async throws {
        let ticks = await services.feed.watch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.receive(messages) }
            group.addTask { try await self.write(to: writer) }
            group.addTask {
                for await _ in ticks { await self.handle(.tickAvailable) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(ServerSession.heartbeatSeconds))
                    await self.handle(.heartbeat)
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.openingTimeout)
                await self.failUnlessOpen()
                try await Task.sleep(for: .seconds(1 << 30))
            }
            group.addTask {
                await withDiscardingTaskGroup { running in
                    for await job in self.jobs { running.addTask { await job() } }
                }
            }
            // Whoever ends first — the device's messages or the writer after a close — ends the session.
            defer {
                endWaiting()
                group.cancelAll()
                addJob.finish()
            }
            try await group.next()
        }
    }

    private func failUnlessOpen() {
        guard !didOpen else { return }
        handle(
            .failed(
                SessionFailure(
                    .notAuthenticated, "The device did not open its session within \(Self.openingTimeout).",
                    isRetryable: true)))
    }

    // MARK: Events

    private func receive(_ messages: MessageStream) async throws {
        for try await buffer in messages {
            guard didOpen || buffer.readableBytes <= MessageCodec.maximumControlByteCount else {
                handle(
                    .failed(
                        SessionFailure(
                            .tooLarge,
                            "Before its session is open, a device's message has at most "
                                + "\(MessageCodec.maximumControlByteCount) bytes.")))
                continue
            }
            do throws(ProtocolError) {
                handle(.message(try codec.decodeClientMessage(Array(buffer.readableBytesView))))
            } catch {
                handle(.failed(error.failure))
            }
            while session.isUploadBacklogged { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    private func handle(_ event: ServerSession.Event) {
        for action in session.handle(event) { perform(action) }
    }

    private func perform(_ action: ServerSession.Action) {
        switch action {
        case .send(let message): enqueue(message)
        case .close:
            shouldClose = true
            wakeWriter()
        case .authenticate(let accessToken):
            addJob.yield { await self.authenticate(accessToken) }
        case .open(let client, let user, let acknowledged, let position):
            addJob.yield { await self.open(client, user, acknowledged, position) }
        case .read(let request): addJob.yield { await self.read(request) }
        case .upload(let changesets, let authority): addJob.yield { await self.upload(changesets, authority) }
        case .pull(let number):
            addJob.yield { await self.pull(after: number) }
        }
    }

    // MARK: Jobs

    private func authenticate(_ accessToken: String) async {
        do {
            handle(.authenticated(try await services.authorize(accessToken)))
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "checking the access token")
        }
    }

    private func open(_ client: ClientID, _ user: String, _ acknowledged: Int64, _ position: Position) async {
        do {
            let opening = try await services.store.openClient(client, user: user, acknowledged: acknowledged)
            let check = try await check(position)
            didOpen = true
            handle(.opened(opening, check))
        } catch {
            fail(error, doing: "opening the session")
        }
    }

    private func check(_ position: Position) async throws -> ServerSession.PositionCheck {
        let known = try await services.store.tick(position.tick)
        return ServerSession.PositionCheck(position, known: known, latest: try await services.store.latestTick())
    }

    private func read(_ request: ReadRequest) async {
        await services.reads.acquire()
        await runRead(request)
        await services.reads.release()
    }

    private func runRead(_ request: ReadRequest) async {
        guard !session.isClosed, !Task.isCancelled else { return }
        do {
            let schema = services.store.schema
            let (end, tick) = try await services.store.withReader { reader in
                let end = try await BatchReader.read(request, from: reader, schema: schema) { frame in
                    await self.handleWithRoom(.frame(frame))
                }
                return (end, reader.tick)
            }
            handle(.readFinished(end, tick))
        } catch is CancellationError {
            return
        } catch {
            fail(error, doing: "reading a batch")
        }
    }

    /// A device that reads slowly gets a few ticks at a time, so that its outbox stays small.
    private func pull(after number: Int64) async {
        await waitForRoom()
        guard let (ticks, hasMore) = await services.feed.ticks(after: number) else { return handle(.ticksGone) }
        if hasMore { handle(.tickAvailable) }
        handle(.ticks(ticks))
    }

    private func upload(_ changesets: [Changeset], _ authority: SessionAuthority) async {
        let client = session.clientID
        do {
            let results = try await services.uploads.upload(
                changesets.map { Upload(client: client, changeset: $0, permit: authority.permit) })
            handle(.uploaded(results))
        } catch {
            fail(error, doing: "applying uploaded changesets")
        }
    }

    private func fail(_ error: any Error, doing what: String) {
        logger.warning("The session ends: \(what) failed: \(error)")
        handle(
            .failed(
                SessionFailure(.unavailable, "The gateway cannot reach its database; try again.", isRetryable: true)))
    }

    // MARK: Writing

    private func enqueue(_ message: ServerMessage) {
        let bytes = codec.encode(message)
        outbox.append(bytes)
        outboxByteCount += bytes.count
        wakeWriter()
        if outboxByteCount > Self.highWater, !isCongested {
            isCongested = true
            handle(.writable(false))
        }
    }

    /// Waits until the device has taken most of what was sent, then handles the event: the back-pressure of reads.
    private func handleWithRoom(_ event: ServerSession.Event) async {
        await waitForRoom()
        handle(event)
    }

    private func waitForRoom() async {
        while outboxByteCount > Self.lowWater, !session.isClosed, !Task.isCancelled {
            await withCheckedContinuation { waitingForRoom.append($0) }
        }
    }

    private func write(to writer: MessageWriter) async throws {
        while true {
            if outbox.isEmpty {
                if shouldClose || Task.isCancelled { return }
                await withTaskCancellationHandler {
                    await withCheckedContinuation { writerWaiting = $0 }
                } onCancel: {
                    Task { await self.wakeWriter() }
                }
                continue
            }
            let messages = outbox
            let byteCount = outboxByteCount
            outbox = []
            try await writer.write(messages)
            outboxByteCount -= byteCount
            if outboxByteCount <= Self.lowWater { makeRoom() }
        }
    }

    private func makeRoom() {
        let waiting = waitingForRoom
        waitingForRoom = []
        for continuation in waiting { continuation.resume() }
        if isCongested {
            isCongested = false
            handle(.writable(true))
        }
    }

    private func wakeWriter() {
        writerWaiting?.resume()
        writerWaiting = nil
    }

    /// Nothing is written any more: lets go of whoever waits for it.
    private func endWaiting() {
        _ = session.handle(.failed(SessionFailure(.unavailable, "The connection ended.", isRetryable: true)))
        outbox = []
        outboxByteCount = 0
        makeRoom()
        wakeWriter()
    }
}
