internal import Logging
internal import NIOCore
internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloWebSocket

/// Runs one ``ServerSession`` on a connection: performs its actions and brings it events. Holds no more than
/// ``highWater`` bytes for a device that does not read.
actor SessionRunner {
    /// With more than this to be written, in bytes, no further ticks are pulled and reads wait.
    static let highWater = 1 << 20
    static let lowWater = 256 << 10
    /// What a device may send before its session is open, in bytes: a hello, and the frames around it.
    static let openingByteCount = MessageCodec.maximumControlByteCount + (64 << 10)

    /// How many times within the limit to check whether the device takes what it is sent.
    static let progressChecks = 8

    /// Matching that costs more than this, in comparisons and bytes searched, takes turns: one session at a time, so that
    /// expensive queries leave the gateway's other threads to everybody else.
    static let maximumSharedMatchingCost = 1_000_000

    /// A session that has to move to another generation ends if it can't within this time, not counting a batch that is
    /// read for it.
    static let moveTimeLimit = Duration.seconds(30)
    static let moveRetryInterval = Duration.milliseconds(250)

    /// What the gateway gives every session.
    struct Services: Sendable {
        let generations: Generations
        let uploadBudget: UploadBudget
        let reads: ReadSlots
        /// One slot, for matching that is expensive.
        let matching: ReadSlots
        let limits: SessionLimits
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
    private struct Admission {
        let accessToken: String
        let authority: SessionAuthority
        /// The generation whose classes the authority is about.
        let generation: Generation
        let tick: Int64
        let askedAt: ContinuousClock.Instant
    }

    let services: Services
    /// Where the session belongs: chosen when the device says hello.
    private var seat: Generations.Seat?
    private var codec: MessageCodec
    let logger: Logger
    var session: ServerSession
    var store: (any ServerStore)? { seat?.generation.store }
    private var outbox: [[UInt8]] = []
    var outboxByteCount = 0
    private var isCongested = false
    private var shouldClose = false
    private var didOpen = false
    private var messages: MessageStream?
    private var admission: Admission?
    /// As the device's hello says it.
    private var partition: Value?
    private var writer: MessageWriter?
    var authority: Authority?
    private var checking: Task<Void, Never>?
    private var watching: Task<Void, Never>?
    /// The session is moving to another generation, with nothing under way any more.
    private var isMoving = false
    /// How often generations said so.
    private var holdCount = 0
    /// A batch was asked for and is not complete.
    var isReading = false
    /// The batch waits for its device to take what was sent.
    var isReadWaitingForDevice = false
    private var reading: Task<Void, Never>?
    /// What the session holds of the gateway's ``UploadBudget``: of uploads that wait, and of those under way.
    private var waitingUploadByteCount = 0
    private var uploadingByteCount = 0
    /// Writes, and their bytes, that the connection took since the session began.
    private var writeCount = 0
    private var writtenByteCount = 0
    private var isWriting = false
    private var writerWaiting: CheckedContinuation<Void, Never>?
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private let jobs: AsyncStream<@Sendable () async -> Void>
    private let addJob: AsyncStream<@Sendable () async -> Void>.Continuation

    init(services: Services, logger: Logger) {
        self.services = services
        self.logger = logger
        codec = MessageCodec(schema: .empty)
        session = ServerSession(schema: .empty)
        // Bounded by the session: one read, one upload, one pull, one opening and one check of authority at a time.
        (jobs, addJob) = AsyncStream.makeStream()
    }

    /// Serves the connection until either side ends it.
    func run(_ messages: MessageStream, _ writer: MessageWriter) async throws {
        self.messages = messages
        do {
            try await serve(messages, writer)
        } catch {
            await release()
            throw error
        }
        await release()
    }

    private func release() async {
        await releaseUploads()
        if let seat { await services.generations.leave(seat) }
    }

    private func serve(_ messages: MessageStream, _ writer: MessageWriter) async throws {
        self.writer = writer
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.receive(messages) }
            group.addTask { try await self.write(to: writer) }
            group.addTask { try await self.watchProgress(of: writer) }
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(ServerSession.heartbeatSeconds))
                    await self.handle(.heartbeat)
                }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: self.services.limits.authorityInterval * .random(in: 0.75...1.25))
                    await self.keepAuthority()
                }
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
            // What comes while the session ends is not looked at.
            guard !session.isClosed else { continue }
            let bytes = Array(buffer.readableBytesView)
            if admission == nil {
                admission = await admit(bytes)
                if admission == nil { continue }
            }
            try await waitForMove()
            // What is built of an upload takes many times its bytes: it has its place in the budget first.
            if MessageCodec.isUpload(bytes) {
                try await services.uploadBudget.admit(bytes.count)
                waitingUploadByteCount += bytes.count
            }
            let message: ClientMessage
            do throws(ProtocolError) {
                message = try codec.decodeClientMessage(bytes)
            } catch {
                handle(.failed(error.failure))
                await releaseDroppedUploads()
                continue
            }
            if case .hello(let hello) = message, !(await take(hello)) { continue }
            handle(.message(message))
            await releaseDroppedUploads()
            while session.isUploadBacklogged { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// Finds the generation that serves the device.
    /// - Returns: false if the session has failed.
    private func take(_ hello: Hello) async -> Bool {
        guard seat == nil else { return true }
        do {
            let seat = try await services.generations.enter(serving: hello.classes, move: moving)
            self.seat = seat
            partition = hello.partition
            codec = seat.generation.codec
            session.serve(seat.generation.store.schema)
            addJob.yield { await self.startWatching(seat.generation.feed) }
            return true
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "finding what serves the device")
        }
        return false
    }

    private func startWatching(_ feed: TickFeed) async {
        let task = Task { await self.watch(feed) }
        watching = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func watch(_ feed: TickFeed) async {
        for await _ in await feed.watch() {
            if let authority, await feed.authorityMayHaveChanged(of: authority.user, after: authority.tick) {
                keepAuthority()
            }
            handle(.tickAvailable)
        }
        guard !Task.isCancelled else { return }
        handle(
            .failed(
                SessionFailure(
                    .unavailable, "The server's database was restored or replaced; connect again.", isRetryable: true)))
    }

    /// The session drops uploads that come too early or too late.
    private func releaseDroppedUploads() async {
        guard !session.hasWaitingUploads, waitingUploadByteCount > 0 else { return }
        let byteCount = waitingUploadByteCount
        waitingUploadByteCount = 0
        await services.uploadBudget.release(byteCount)
    }

    func handle(_ event: ServerSession.Event) {
        let actions = session.handle(event)
        if codec.names != session.deviceNames { codec = MessageCodec(schema: codec.schema, names: session.deviceNames) }
        for action in actions { perform(action) }
        moveIfPossible()
    }

    private func moveIfPossible() {
        guard session.canMove, !isMoving else { return }
        isMoving = true
        addJob.yield { await self.move() }
    }

    private func perform(_ action: ServerSession.Action) {
        switch action {
        case .send(let message): enqueue(message)
        case .close:
            shouldClose = true
            reading?.cancel()
            wakeWriter()
            wakeWaitingForRoom()
        case .authenticate(let accessToken):
            addJob.yield { await self.authenticate(accessToken) }
        case .open(let client, let user, let acknowledged, let position):
            addJob.yield { await self.open(client, user, acknowledged, position) }
        case .read(let request): addJob.yield { await self.startReading(request) }
        case .upload(let changesets, let authority):
            // All that waited.
            uploadingByteCount += waitingUploadByteCount
            waitingUploadByteCount = 0
            addJob.yield { await self.upload(changesets, authority) }
        case .pull(let number):
            addJob.yield { await self.pull(after: number) }
        }
    }

    // MARK: Jobs

    /// The session may end before its connection does: the database then stops reading for it at once.
    private func startReading(_ request: ReadRequest) async {
        guard !session.isClosed else { return }
        isReading = true
        let task = Task { await self.read(request) }
        reading = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Finds out who says hello. Until then nothing is built of what the device sends, and nothing is read behind it.
    /// - Returns: nil for a device that may not go on; the session has failed then.
    private func admit(_ bytes: [UInt8]) async -> Admission? {
        let accessToken: String
        do throws(ProtocolError) {
            accessToken = try codec.opening(ofHello: bytes).accessToken
        } catch {
            handle(.failed(error.failure))
            return nil
        }
        return await authorize(accessToken)
    }

    private func authorize(_ accessToken: String) async -> Admission? {
        let asked = ContinuousClock.now
        do {
            let newest = try await services.generations.newest()
            let generation = seat?.generation ?? newest
            let tick = await generation.feed.newestNumber
            return Admission(
                accessToken: accessToken, authority: try await generation.authorize(accessToken),
                generation: generation, tick: tick, askedAt: asked)
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "checking the access token")
        }
        return nil
    }

    private func authenticate(_ accessToken: String) async {
        var known = admission
        if known?.accessToken != accessToken || known?.generation !== seat?.generation {
            known = await authorize(accessToken)
        }
        guard let known else { return }
        do {
            let granted = try await narrow(known.authority, to: partition, in: known.generation)
            authority = Authority(
                accessToken: accessToken, user: granted.user, partition: partition,
                rulesFingerprint: granted.rulesFingerprint, tick: known.tick, askedAt: known.askedAt)
            handle(.authenticated(granted))
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "finding out what the user may do in the partition")
        }
    }

    /// What the user may see and do in the session's partition. What they may read is kept, as it is for the rest.
    private func narrow(
        _ authority: SessionAuthority, to partition: Value?, in generation: Generation
    ) async throws -> SessionAuthority {
        guard let partition else { return authority }
        guard let inPartition = authority.inPartition else {
            throw SessionFailure(.badSubscription, "This gateway has no partitions. Open the Realm by subscriptions.")
        }
        let narrowed = inPartition(partition)
        guard narrowed.hidden.isEmpty, narrowed.rulesFingerprint != self.authority?.rulesFingerprint else {
            return narrowed
        }
        let store = generation.store
        let readable = store.schema.classes.indices.map { ($0, narrowed.readable($0)) }
        try await store.keepReadable(
            Dictionary(uniqueKeysWithValues: readable), under: narrowed.rulesFingerprint)
        return narrowed
    }

    // MARK: Moving to another generation

    /// What generations call.
    private var moving: @Sendable () async -> Void { { [weak self] in await self?.hold() } }

    /// The classes that the session is served with can't be served by the newest rules, or not under their names.
    private func hold() {
        guard didOpen else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable, "The server's model changed while the session was opened.", isRetryable: true)))
        }
        holdCount += 1
        session.hold()
        handle(.writable(!isCongested))
    }

    /// The device's messages are about the classes before, or about those that come.
    private func waitForMove() async throws {
        while session.awaitsMove { try await Task.sleep(for: .milliseconds(5)) }
    }

    private func move() async {
        defer {
            isMoving = false
            moveIfPossible()
        }
        let began = ContinuousClock.now
        while let seat, let before = authority, !session.isClosed {
            let known = holdCount
            if let next = await services.generations.follow(moving), await move(to: next, from: seat, before) {
                // Its new generation was left behind meanwhile.
                if holdCount != known { hold() }
                return
            }
            guard began.duration(to: .now) < Self.moveTimeLimit else {
                return handle(
                    .failed(
                        SessionFailure(
                            .unavailable, "The server's model changed, and the gateway can't serve the new one yet.",
                            isRetryable: true)))
            }
            do {
                try await Task.sleep(for: Self.moveRetryInterval)
            } catch {
                return
            }
        }
    }

    /// - Returns: false if it is worth trying again.
    private func move(to next: Generations.Seat, from last: Generations.Seat, _ before: Authority) async -> Bool {
        let asked = ContinuousClock.now
        do {
            let generation = next.generation
            let tick = await generation.feed.newestNumber
            let known = try await narrow(
                try await generation.authorize(before.accessToken), to: before.partition, in: generation)
            // Another call to move may have come meanwhile, never another message.
            guard session.canMove else { throw CancellationError() }
            seat = next
            authority = Authority(
                accessToken: before.accessToken, user: known.user, partition: before.partition,
                rulesFingerprint: known.rulesFingerprint, tick: tick, askedAt: asked)
            checking?.cancel()
            watching?.cancel()
            let actions = session.move(to: generation.store.schema, known)
            codec = MessageCodec(schema: generation.store.schema, names: session.deviceNames)
            for action in actions { perform(action) }
            addJob.yield { await self.startWatching(generation.feed) }
            await services.generations.leave(last)
            return true
        } catch let failure as SessionFailure {
            await services.generations.leave(next)
            handle(.failed(failure))
            return true
        } catch {
            await services.generations.leave(next)
            return false
        }
    }

    // MARK: Authority

    /// Looks up again what the user may see and do; a look-up that does not return is not waited for without end.
    private func keepAuthority() {
        guard let authority, !session.isClosed else { return }
        guard authority.askedAt.duration(to: .now) < services.limits.authorityPatience else {
            return handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "For \(services.limits.authorityPatience) the gateway could not find out what the user may do.",
                        isRetryable: true)))
        }
        // A move looks it up.
        guard checking == nil, !session.isHeld else { return }
        addJob.yield { await self.checkAuthority() }
    }

    /// Joins a check that is under way.
    private func checkAuthority() async {
        if let checking { return await checking.value }
        guard let authority else { return }
        let task = Task { await self.check(authority) }
        checking = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        checking = nil
    }

    private func check(_ before: Authority) async {
        guard let generation = seat?.generation else { return }
        let asked = ContinuousClock.now
        do {
            let tick = await generation.feed.newestNumber
            let known = try await narrow(
                try await generation.authorize(before.accessToken), to: before.partition, in: generation)
            guard seat?.generation === generation, !session.isHeld else { return }
            authority?.askedAt = asked
            authority?.tick = tick
            authority?.rulesFingerprint = known.rulesFingerprint
            if known.rulesFingerprint != before.rulesFingerprint { handle(.authorityChanged(known)) }
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            logger.debug("What a user may do could not be looked up: \(error)")
        }
    }

    private func open(_ client: ClientID, _ user: String, _ acknowledged: Int64, _ position: Position) async {
        do {
            guard let store = seat?.generation.store else { return }
            let opening = try await store.openClient(client, user: user, acknowledged: acknowledged)
            let check = try await check(position, store)
            var formerly: [Int: Predicate]?
            if case .valid = check, position.rulesFingerprint != authority?.rulesFingerprint {
                formerly = try await store.readable(under: position.rulesFingerprint)
            }
            didOpen = true
            messages?.liftOpeningLimit()
            handle(.opened(opening, check, formerly: formerly))
        } catch let failure as SessionFailure {
            handle(.failed(failure))
        } catch {
            fail(error, doing: "opening the session")
        }
    }

    private func check(
        _ position: Position, _ store: any ServerStore
    ) async throws -> ServerSession.PositionCheck {
        let known = try await store.tick(position.tick)
        return ServerSession.PositionCheck(position, known: known, latest: try await store.latestTick())
    }

    /// A device that reads slowly gets a few ticks at a time, so that its outbox stays small.
    private func pull(after number: Int64) async {
        await waitForRoom()
        guard let feed = seat?.generation.feed else { return }
        // What came after a change of what the user may do is matched with what they may see since.
        if let authority, await feed.authorityMayHaveChanged(of: authority.user, after: authority.tick) {
            await checkAuthority()
        }
        guard let (ticks, hasMore) = await feed.ticks(after: number) else { return handle(.ticksGone) }
        if hasMore { handle(.tickAvailable) }
        guard session.matchingCost(of: ticks) > Self.maximumSharedMatchingCost, let user = authority?.user else {
            return handle(.ticks(ticks))
        }
        // Throws only when the session's task is cancelled: nothing is left to match for then.
        try? await services.matching.run(
            user: user, progress: { ReadProgress(isWaitingForDevice: false, takenByteCount: 0) }
        ) {
            await self.handle(.ticks(ticks))
        }
    }

    private func upload(_ changesets: [Changeset], _ authority: SessionAuthority) async {
        let client = session.clientID
        guard let generation = seat?.generation else { return }
        let sees = authority.sees(in: generation.store.schema)
        do {
            let results = try await generation.uploads.upload(
                changesets.map {
                    Upload(
                        client: client, changeset: $0, permit: authority.permit, denial: authority.denial, sees: sees)
                }, user: authority.user)
            await releaseUploaded()
            handle(.uploaded(results))
            await releaseDroppedUploads()
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "Others are changing the same objects and did not finish in time; try again.",
                        isRetryable: true)))
        } catch let error as PostgresError where !error.isRetryable {
            logger.error("The session ends: the database refused to apply uploaded changesets: \(error)")
            handle(
                .failed(
                    SessionFailure(
                        .unavailable,
                        "The gateway's database refused to apply the changes of this device, and the gateway's log "
                            + "says why. They stay on the device, which sends them again until that is mended.",
                        isRetryable: true)))
        } catch {
            fail(error, doing: "applying uploaded changesets")
        }
    }

    private func releaseUploaded() async {
        let byteCount = uploadingByteCount
        uploadingByteCount = 0
        await services.uploadBudget.release(byteCount)
    }

    private func releaseUploads() async {
        let byteCount = waitingUploadByteCount
        waitingUploadByteCount = 0
        await services.uploadBudget.release(byteCount)
        await releaseUploaded()
    }

    /// A connection that ends cancels the work under way for it. That isn't a failure.
    func fail(_ error: any Error, doing what: String) {
        guard !(error is CancellationError), !Task.isCancelled else { return }
        logger.warning("The session ends: \(what) failed: \(error)")
        handle(
            .failed(
                SessionFailure(.unavailable, "The gateway cannot reach its database; try again.", isRetryable: true)))
    }

    // MARK: Writing

    private func enqueue(_ message: ServerMessage) {
        // After the session's last words nothing is of use.
        guard !shouldClose else { return }
        let bytes = codec.encode(message)
        guard bytes.count <= MessageCodec.maximumMessageByteCount else { return handle(.failed(tooLarge(message))) }
        outbox.append(bytes)
        outboxByteCount += bytes.count
        wakeWriter()
        if outboxByteCount > Self.highWater, !isCongested {
            isCongested = true
            handle(.writable(false))
        }
    }

    /// Frames are cut by size, so that only a single row can be beyond a message: the device would come back for it
    /// without end.
    private func tooLarge(_ message: ServerMessage) -> SessionFailure {
        var classes: Set<String> = []
        if case .frame(let frame) = message {
            classes.formUnion(frame.blocks.map { codec.schema[$0.classIndex].name })
        }
        return SessionFailure(
            .tooLarge,
            "An object of \(classes.sorted().joined(separator: ", ")) is larger than a message, which has at most "
                + "\(MessageCodec.maximumMessageByteCount) bytes. Make it smaller on the server, or subscribe to less.")
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
            isWriting = true
            defer { isWriting = false }
            try await writer.write(messages)
            writeCount += 1
            writtenByteCount += byteCount
            outboxByteCount -= byteCount
            if outboxByteCount <= Self.lowWater { makeRoom() }
        }
    }

    /// Ends a batch whose device takes nothing, though it may say that it is there; and a connection that does not even
    /// take the session's last words. A device that stands still otherwise costs a bounded outbox and may stay.
    private func watchProgress(of writer: MessageWriter) async throws {
        let limits = services.limits
        var before = (writes: 0, pending: 0, at: ContinuousClock.now)
        while true {
            try await Task.sleep(for: limits.writeStallLimit / Self.progressChecks)
            guard let pending = try? await writer.pendingByteCount() else { continue }
            // Only a connection that took what it had before gets more.
            let hasProgress =
                !isWriting || writeCount != before.writes || pending > before.pending
                || pending + limits.minimumProgressByteCount <= before.pending
            if hasProgress || !(isReading || shouldClose) {
                before = (writeCount, pending, .now)
            } else if before.at.duration(to: .now) >= limits.writeStallLimit {
                guard !shouldClose else { throw StalledConnectionError(limit: limits.writeStallLimit) }
                handle(
                    .failed(
                        SessionFailure(
                            .unavailable,
                            "The device took next to nothing for \(limits.writeStallLimit) of a batch that was read for it.",
                            isRetryable: true)))
                before.at = .now
            }
        }
    }

    private func makeRoom() {
        wakeWaitingForRoom()
        if isCongested {
            isCongested = false
            handle(.writable(true))
        }
    }

    /// What the device has taken so far, in bytes.
    func takenByteCount() async -> Int {
        if let confirmed = try? await writer?.confirmedByteCount() { return confirmed }
        let pending = (try? await writer?.pendingByteCount()) ?? 0
        return writtenByteCount - pending
    }

    /// Waits until the device has taken most of what was sent, the session ends, or the task is cancelled.
    func waitForRoom() async {
        while outboxByteCount > Self.lowWater, !session.isClosed, !Task.isCancelled {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waitingForRoom.append($0) }
            } onCancel: {
                Task { await self.wakeWaitingForRoom() }
            }
        }
    }

    private func wakeWaitingForRoom() {
        let waiting = waitingForRoom
        waitingForRoom = []
        for continuation in waiting { continuation.resume() }
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
