internal import Logging
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The generations that have sessions, and the newest one: see docs/adr/0012.
///
/// A document that was added makes every generation ask for the newest model again: another schema makes a new generation
/// for the sessions that begin from then on; other rules count for all of them. Where the newest rules can't be said of an
/// older generation's classes, its sessions move to the newest one.
actor Generations {
    /// Generations at a time. Beyond them the sessions of the oldest move to the newest.
    static let maximumCount = 8
    /// How long a device waits until its classes are added. Shorter than it may take to open a session:
    /// ``TomboloSyncSession/ServerSession/maximumOpeningHeartbeats``.
    static let extensionLimit = Duration.seconds(8)
    /// How long it takes until a model that could not be read is asked for again.
    static let retryInterval = Duration.seconds(1)

    private struct Entry {
        let generation: Generation
        var sessionCount = 0
        let feed: Task<Void, Never>
        /// Tells the sessions of the generation to move to the newest.
        var move: [Int: @Sendable () async -> Void] = [:]
        /// The newest rules can't be said of its classes.
        var isLeftBehind = false
    }

    /// Of all generations.
    nonisolated let users: ConnectedUsers
    private let source: any ModelSource
    private let wakeUps: @Sendable () -> AsyncStream<Void>
    private let onCommit: @Sendable () -> Void
    private let metrics: GatewayMetrics
    private let logger: Logger
    /// Oldest first; the last is the newest model's.
    private var entries: [Entry] = []
    private var nextNumber = 1
    private var nextSession = 0
    private var isRunning = false
    /// The refresh that was begun last, and the one that has not begun yet.
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

    /// A session's place in a generation; ``Generations/leave(_:)`` gives it back.
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
            logger.warning("The model cannot be read yet: \(error)")
        }
        // Feeds are tasks of their own: which there are changes with the model.
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

    /// Those that have sessions, oldest first, and the newest.
    var all: [Generation] { entries.map(\.generation) }

    /// The generation that new sessions are in.
    func newest() async throws -> Generation {
        if let last = entries.last { return last.generation }
        try await refresh()
        guard let last = entries.last else { throw CancellationError() }
        return last.generation
    }

    /// Finds the generation that serves a device, adding what its classes lack where that is allowed.
    /// - Parameter move: tells the session that it has to move: nothing more may be sent to its device before it called
    ///   ``follow(_:)`` with success.
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

    /// A place in the newest generation for a session that was told to move. It gives its former one back itself.
    /// - Returns: nil if there is none yet that the newest rules can be said of.
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

    /// Old generations without sessions go.
    private func dropIdle() {
        guard let last = entries.last else { return }
        for entry in entries where entry.sessionCount == 0 && entry.generation !== last.generation {
            entry.feed.cancel()
        }
        entries.removeAll { $0.sessionCount == 0 && $0.generation !== last.generation }
    }

    // MARK: Models

    /// What a tick says concerns everything that was remembered; a new document also the model.
    private func note(_ news: AuthorityNews) async {
        await source.forget(news)
        guard news.hasNewDocuments else { return }
        do {
            try await refresh()
        } catch {
            logger.error("The model changed, but the gateway goes on with the one before: \(error)")
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

    /// Takes the newest model. Calls that come while one runs share the next one: what it reads is newer than they are.
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
                // What its store and its feed know of tables and ticks is of the other database.
                await leave(behind: generation)
            } else if schema == model.schema {
                take(model, generation)
            } else if model.schema.names(schema), let older = try? await source.newest(on: schema) {
                take(older, generation)
            } else {
                // Something was renamed, or its classes lack what the rules look at. Its sessions hold still from here
                // on, whatever becomes of the new generation: the rules that they know don't count any more.
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
        // The first tick of a feed is where its sessions begin: before any of them is let in.
        entries.append(Entry(generation: generation, feed: Task { await generation.feed.run(wakeUps: wakeUps()) }))
        dropIdle()
        if entries.count > Self.maximumCount { await leave(behind: entries[0].generation) }
    }

    /// The database was replaced by another of its name. Every session ends; each device learns at its next hello whether it
    /// must start over.
    private func leaveDatabase() async {
        logger.notice("The database was replaced by another of its name. All sessions end.")
        for entry in entries { await entry.generation.feed.endSessions() }
    }

    private func take(_ model: GatewayModel, _ generation: Generation) {
        generation.rules.replace(with: model)
        guard let index = entries.firstIndex(where: { $0.generation === generation }) else { return }
        entries[index].isLeftBehind = false
    }

    /// Tells a generation's sessions to move to the newest one; when the last has left, the generation goes.
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
    /// Whether the classes and properties of an older schema are still there under their names.
    fileprivate func names(_ older: Schema) -> Bool {
        older.classes.allSatisfy { item in
            guard let index = index(of: item.name), self[index].name == item.name else { return false }
            return item.columns.allSatisfy { column in
                self[index].columnIndex(column.name).map { self[index].columns[$0].name == column.name } ?? false
            }
        }
    }
}
