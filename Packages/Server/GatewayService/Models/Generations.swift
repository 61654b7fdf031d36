internal import Logging
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The generations that have sessions, plus the newest one: see docs/adr/0012.
///
/// When a document is added, every generation asks for the newest model. A different schema starts a new generation,
/// for sessions that begin from then on. Different rules apply to all generations. If the newest rules can't be
/// applied to an older generation's classes, its sessions move to the newest generation.
actor Generations {
    /// The most generations at a time. Beyond that, the sessions of the oldest one move to the newest.
    static let maximumCount = 8
    /// How long a device waits for its classes to be added. Shorter than the time that it has to open a session:
    /// ``TomboloSyncSession/ServerSession/maximumOpeningHeartbeats``.
    static let extensionLimit = Duration.seconds(8)
    /// How long to wait before asking again for a model that couldn't be read.
    static let retryInterval = Duration.seconds(1)

    private struct Entry {
        let generation: Generation
        var sessionCount = 0
        let feed: Task<Void, Never>
        /// Functions that tell the generation's sessions to move to the newest generation.
        var move: [Int: @Sendable () async -> Void] = [:]
        /// Whether the newest rules can't be applied to its classes.
        var isLeftBehind = false
    }

    /// The connected users of all generations.
    nonisolated let users: ConnectedUsers
    private let source: any ModelSource
    private let wakeUps: @Sendable () -> AsyncStream<Void>
    private let onCommit: @Sendable () -> Void
    private let metrics: GatewayMetrics
    private let logger: Logger
    /// Oldest first. The last one has the newest model.
    private var entries: [Entry] = []
    private var nextNumber = 1
    private var nextSession = 0
    private var isRunning = false
    /// The refresh that is running or ran last, and the one that hasn't started yet.
    private var running: Task<Void, any Error>?
    private var waiting: Task<Void, any Error>?

    init(
        source: any ModelSource, users: ConnectedUsers = ConnectedUsers(),
        wakeUps: @escaping @Sendable () -> AsyncStream<Void>, onCommit: @escaping @Sendable () -> Void,
        metrics: GatewayMetrics, logger: Logger
    ) {
        self.users = users
        self.metrics = metrics
        self.source = source
        self.wakeUps = wakeUps
        self.onCommit = onCommit
        self.logger = logger
    }

    /// A session's place in a generation. ``Generations/leave(_:)`` returns it.
    struct Seat: Sendable {
        let generation: Generation
        fileprivate let session: Int
    }

    /// Runs the feeds until the task is cancelled.
    func run() async {
        isRunning = true
        do {
            _ = try await newest()
        } catch {
            logger.warning("Can't load the model yet: \(error)")
        }
        // Feeds run in their own tasks, because the set of feeds changes with the model.
        await withTaskCancellationHandler {
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
        } onCancel: {
            Task { await self.stop() }
        }
    }

    private func stop() {
        isRunning = false
        for entry in entries { entry.feed.cancel() }
        entries = []
    }

    /// The generations that have sessions, oldest first, and the newest one.
    var all: [Generation] { entries.map(\.generation) }

    /// The generation for new sessions.
    func newest() async throws -> Generation {
        if let last = entries.last { return last.generation }
        try await refresh()
        guard let last = entries.last else { throw CancellationError() }
        return last.generation
    }

    /// Finds the generation that can serve a device. Adds what its classes lack if that is allowed.
    /// - Parameter move: tells the session that it has to move. From then on, it must send nothing more to its device
    ///   until ``follow(_:)`` has succeeded.
    func enter(serving classes: [HelloClass], move: @escaping @Sendable () async -> Void) async throws -> Seat {
        var generation = try await newest()
        if !ServerSession.serves(classes, with: generation.store.schema),
            try await source.extend(by: classes, within: Self.extensionLimit)
        {
            try await refresh()
            generation = try await newest()
        }
        guard let seat = seat(in: generation, move) else {
            throw SessionFailure(.unavailable, "The gateway is shutting down.", isRetryable: true)
        }
        return seat
    }

    /// A place in the newest generation for a session that was told to move. The session itself returns its former
    /// place.
    /// - Returns: nil if there is no generation yet that the newest rules can be applied to.
    func follow(_ move: @escaping @Sendable () async -> Void) async -> Seat? {
        _ = try? await running?.value
        guard let last = entries.last, !last.isLeftBehind else { return nil }
        return seat(in: last.generation, move)
    }

    private func seat(in generation: Generation, _ move: @escaping @Sendable () async -> Void) -> Seat? {
        guard let index = entries.firstIndex(where: { $0.generation === generation }) else { return nil }
        nextSession += 1
        entries[index].sessionCount += 1
        entries[index].move[nextSession] = move
        return Seat(generation: generation, session: nextSession)
    }

    func leave(_ seat: Seat) {
        guard let index = entries.firstIndex(where: { $0.generation === seat.generation }) else { return }
        entries[index].move[seat.session] = nil
        entries[index].sessionCount -= 1
        dropIdle()
    }

    /// Removes old generations without sessions.
    private func dropIdle() {
        guard let last = entries.last else { return }
        for entry in entries where entry.sessionCount == 0 && entry.generation !== last.generation {
            entry.feed.cancel()
        }
        entries.removeAll { $0.sessionCount == 0 && $0.generation !== last.generation }
    }

    // MARK: Models

    /// Everything remembered about the users in the news is stale. With new documents, so is the model.
    private func note(_ news: AuthorityNews) async {
        await source.forget(news)
        guard news.hasNewDocuments else { return }
        do {
            try await refresh()
        } catch {
            logger.error("Can't load the changed model; still using the previous one: \(error)")
            refreshLater()
        }
    }

    private func refreshLater() {
        Task {
            try? await Task.sleep(for: Self.retryInterval)
            guard isRunning else { return }
            do {
                try await refresh()
                for entry in entries { await entry.generation.feed.noteNewModel() }
            } catch {
                refreshLater()
            }
        }
    }

    /// Takes the newest model. Calls during a refresh share the next one, which reads a model that is newer than the
    /// calls.
    private func refresh() async throws {
        if let waiting { return try await waiting.value }
        let before = running
        let task = Task {
            _ = try? await before?.value
            self.waiting = nil
            try await self.takeNewest()
        }
        waiting = task
        running = task
        try await task.value
    }

    private func takeNewest() async throws {
        let model = try await source.newest()
        let last = entries.last?.generation.rules.model
        let isReplaced = last.map { $0.database != model.database } ?? false
        if !isReplaced, let last, model.version < last.version { return }
        if isReplaced { await leaveDatabase() }
        for generation in entries.map(\.generation) {
            let schema = generation.store.schema
            if isReplaced {
                // What its store and its feed know about tables and ticks belongs to the other database.
                await leave(behind: generation)
            } else if schema == model.schema {
                take(model, generation)
            } else if model.schema.names(schema), let older = try? await source.newest(on: schema) {
                take(older, generation)
            } else {
                // A name has changed, or the classes lack something that the rules look at. The generation's sessions
                // pause from here on, whatever happens to the new generation, because the rules that they know no
                // longer apply.
                await leave(behind: generation)
            }
        }
        guard isReplaced || entries.last?.generation.store.schema != model.schema else { return }
        let store = try await source.store(for: model.schema)
        let generation = Generation(
            number: nextNumber, model: model, store: store, users: users,
            onNews: { [weak self] in await self?.note($0) }, onCommit: onCommit, metrics: metrics, logger: logger)
        nextNumber += 1
        let wakeUps = wakeUps
        if !entries.isEmpty {
            logger.notice(
                "Generation \(generation.number): \(store.schema.classes.count) classes, model \(model.version)")
        }
        // The feed's first tick is where its sessions begin, so the feed starts before any session is let in.
        entries.append(Entry(generation: generation, feed: Task { await generation.feed.run(wakeUps: wakeUps()) }))
        dropIdle()
        if entries.count > Self.maximumCount { await leave(behind: entries[0].generation) }
    }

    /// The database was replaced by another one of the same name. Every session ends, and each device learns at its
    /// next hello whether it must start over.
    private func leaveDatabase() async {
        logger.notice("The database was replaced by another of the same name. Ending all sessions.")
        for entry in entries { await entry.generation.feed.endSessions() }
    }

    private func take(_ model: GatewayModel, _ generation: Generation) {
        generation.rules.replace(with: model)
        guard let index = entries.firstIndex(where: { $0.generation === generation }) else { return }
        entries[index].isLeftBehind = false
    }

    /// Tells a generation's sessions to move to the newest one. Once the last has left, the generation is removed.
    private func leave(behind generation: Generation) async {
        guard let index = entries.firstIndex(where: { $0.generation === generation }) else { return }
        entries[index].isLeftBehind = true
        let entry = entries[index]
        if !entry.move.isEmpty {
            logger.notice("Generation \(generation.number): \(entry.move.count) sessions move to the newest model.")
        }
        for move in entry.move.values { await move() }
    }
}

extension Schema {
    /// Whether all classes and properties of an older schema still exist under the same names.
    fileprivate func names(_ older: Schema) -> Bool {
        older.classes.allSatisfy { item in
            guard let index = index(of: item.name), self[index].name == item.name else { return false }
            return item.columns.allSatisfy { column in
                self[index].columnIndex(column.name).map { self[index].columns[$0].name == column.name } ?? false
            }
        }
    }
}
