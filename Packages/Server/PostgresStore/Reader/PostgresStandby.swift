public import Logging
public import PostgresClient
internal import Synchronization
public import TomboloChangesets
public import TomboloSyncSession

/// A hot standby that takes bootstrap reads off the primary. It is optional: if anything is wrong with it, bootstraps
/// are read from the primary.
///
/// A snapshot can't be passed from one server to another, so the standby's own snapshot must equal a tick's: nothing
/// may be committed in it that the tick doesn't see. Between two ticks that is true most of the time, and the read
/// waits for it briefly. The primary confirms that the tick is its own, so a server with another history is never
/// trusted.
public final class PostgresStandby: Sendable {
    /// How long a bootstrap waits until the standby has the tick that was the newest at the start, and is exactly at
    /// a tick.
    public static let patience = Duration.milliseconds(500)
    /// How often to check during that time.
    static let lookInterval = Duration.milliseconds(10)
    /// How long to use only the primary after the standby didn't answer, broke off, or turned out to be the wrong
    /// server.
    public static let restAfterFailure = Duration.seconds(15)
    /// How long to use only the primary after the standby was behind.
    public static let restWhenBehind = Duration.seconds(2)
    /// How long to wait for a free connection to the standby, or for a new one to open.
    public static let acquireTimeout = Duration.seconds(2)

    /// Where bootstraps were read, for metrics and tests.
    public struct Statistics: Hashable, Sendable {
        /// Read from the standby.
        public var served = 0
        /// Started on the standby and broken off; they start again.
        public var lost = 0
        /// Read from the primary, because the standby was behind or not exactly at a tick, or because another
        /// database has taken over its database's name.
        public var behind = 0
        /// Read from the primary, because the standby didn't answer or isn't a standby of this primary.
        public var unusable = 0
        /// Read from the primary without asking the standby again.
        public var rested = 0
    }

    private struct State: Sendable {
        var restsUntil: ContinuousClock.Instant?
        var statistics = Statistics()
        var lastProblem: String?
        /// Whether a query for its newest tick is in flight.
        var isLooking = false
    }

    public let pool: PostgresPool
    private let limits: StandbyWatch.Limits
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter connections: the number of bootstraps that are read at once.
    public convenience init(configuration: PostgresConfiguration, connections: Int, logger: Logger) {
        self.init(configuration: configuration, connections: connections, limits: .init(), logger: logger)
    }

    init(configuration: PostgresConfiguration, connections: Int, limits: StandbyWatch.Limits, logger: Logger) {
        self.limits = limits
        pool = PostgresPool(
            configuration: configuration,
            options: .init(maximumConnections: connections, acquireTimeout: Self.acquireTimeout), logger: logger)
        self.logger = logger
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// False from the moment it was found to be behind or failed until it serves a bootstrap again.
    public var isInUse: Bool { state.withLock { $0.lastProblem == nil } }

    /// The newest tick that it has replayed, for metrics. Nil if it doesn't answer in time, or if a query is still in
    /// flight.
    public func newestTick() async -> Tick? {
        let mayLook = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking
        }
        guard mayLook else { return nil }
        // A query to a frozen standby is left behind, and the standby isn't asked again before it has answered.
        return try? await StandbyWatch(limits).run { () -> Tick? in
            defer { self.state.withLock { $0.isLooking = false } }
            return try await self.pool.withConnection { connection in
                guard try await self.standing(of: connection).hasItsName else {
                    await connection.close()
                    return nil
                }
                return try await StoredTick.latest(connection)?.tick
            }
        }
    }

    /// Whether the server is still a standby, and whether the connection's database is still the one that has its
    /// name now. A restored database takes over the name, which ends all connections on the primary but none on a
    /// standby.
    private func standing(
        of connection: PostgresConnection
    ) async throws -> (isStandby: Bool, hasItsName: Bool) {
        let found = try await connection.query(
            "SELECT pg_is_in_recovery(), coalesce(current_database() = $1, true)",
            [.text(pool.configuration.database)])
        return (try found[0, 0].bool, try found[0, 1].bool)
    }

    /// Whether the standby is worth asking.
    func isAvailable() -> Bool {
        state.withLock { state in
            guard let until = state.restsUntil, until > .now else { return true }
            state.statistics.rested += 1
            return false
        }
    }

    enum Outcome<Result: Sendable>: Sendable {
        case served(Result)
        /// Nothing was read: the standby is behind, or not exactly at a tick.
        case behind
        /// Nothing was read: the connection, now closed, led to a database that had been replaced by a restored one.
        case putAside
        /// Nothing was read, for the given reason.
        case unusable(String)
    }

    /// A read failed after it had begun, and can't be undone.
    private struct Lost: Error {
        let cause: any Error
    }

    /// Runs `body` with the standby's rows as of a tick.
    /// - Parameters:
    ///   - wanted: the lowest acceptable tick number.
    ///   - isKnown: whether the primary has this tick.
    /// - Throws: ``PostgresStoreError`` `.standbyLost` if the standby failed in the middle; otherwise what `body`
    ///   throws.
    func read<Result: Sendable>(
        from wanted: Int64, layout: StoreLayout, isKnown: @escaping @Sendable (Tick) async throws -> Bool,
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Outcome<Result> {
        let watch = StandbyWatch(limits)
        let outcome: Outcome<Result>
        do {
            outcome = try await watch.run {
                try await self.pool.withConnection { connection in
                    do {
                        let outcome = try await self.open(connection, wanted, layout, isKnown)
                        if case .served(let stored) = outcome {
                            try watch.opened()
                            let base = PostgresTickReader(stored: stored, connection: connection, layout: layout)
                            return .served(
                                try await self.perform(body, StandbyReader(base: base, watch: watch), layout))
                        }
                        await connection.rollback()
                        switch outcome {
                        case .unusable(let problem): return .unusable(problem)
                        case .putAside:
                            await connection.close()
                            return .putAside
                        case .behind, .served: return .behind
                        }
                    } catch {
                        await connection.rollback()
                        throw error
                    }
                }
            }
        } catch is StandbyWatch.LeftBehind where Task.isCancelled {
            throw CancellationError()
        } catch is StandbyWatch.LeftBehind where !watch.hasOpened {
            outcome = .unusable("it doesn't answer")
        } catch is StandbyWatch.LeftBehind {
            rest(Self.restAfterFailure, "it doesn't answer") { $0.lost += 1 }
            throw PostgresStoreError(
                .standbyLost,
                "The standby stopped answering in the middle of a bootstrap, which is now read from the primary.")
        } catch let lost as Lost {
            rest(Self.restAfterFailure, "\(lost.cause)") { $0.lost += 1 }
            throw PostgresStoreError(
                .standbyLost, "The standby aborted a bootstrap, which is now read from the primary: \(lost.cause)")
        } catch {
            guard !Task.isCancelled, error is PostgresError || error is PostgresPoolError else { throw error }
            outcome = .unusable("\(error)")
        }
        switch outcome {
        case .served:
            state.withLock { state in
                state.statistics.served += 1
                if state.lastProblem != nil { logger.notice("Reading bootstraps from the standby again.") }
                state.lastProblem = nil
            }
        case .behind: rest(Self.restWhenBehind, "it's behind the primary") { $0.behind += 1 }
        case .putAside:
            rest(Self.restWhenBehind, "a restored database has taken over its name; reconnecting") { $0.behind += 1 }
        case .unusable(let problem): rest(Self.restAfterFailure, problem) { $0.unusable += 1 }
        }
        return outcome
    }

    /// Begins a transaction with the same snapshot as a tick.
    private func open(
        _ connection: PostgresConnection, _ wanted: Int64, _ layout: StoreLayout,
        _ isKnown: @Sendable (Tick) async throws -> Bool
    ) async throws -> Outcome<StoredTick> {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            try await connection.execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off; SET LOCAL enable_seqscan = off; "
                    + "SET LOCAL statement_timeout = \(PostgresServerStore.readStatementTimeout.milliseconds)")
            let standing = try await standing(of: connection)
            guard standing.isStandby else {
                return .unusable("it's no longer a standby but a primary")
            }
            guard standing.hasItsName else { return .putAside }
            if let stored = try await StoredTick.latest(connection), stored.tick.number >= wanted,
                try await !StoredTick.isOutdated(stored, connection)
            {
                guard try await SchemaDigest.read(connection) == layout.digest else { return .behind }
                guard try await isKnown(stored.tick) else {
                    return .unusable("it has a tick that the primary doesn't have: it belongs to another history")
                }
                try await connection.execute("SET LOCAL enable_seqscan = on")
                return .served(stored)
            }
            try await connection.execute("ROLLBACK")
            guard ContinuousClock.now < deadline else { return .behind }
            try await Task.sleep(for: Self.lookInterval)
        }
    }

    private func perform<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result, _ reader: StandbyReader, _ layout: StoreLayout
    ) async throws -> Result {
        let connection = reader.base.connection
        do {
            let result = try await body(reader)
            reader.watch.asks()
            try await connection.execute("COMMIT")
            // A column that was renamed meanwhile may have given its name to another, and the read used that one.
            guard try await SchemaDigest.read(connection) == layout.digest else {
                throw PostgresStoreError.renamedMeanwhile
            }
            return result
        } catch {
            let isTheCallers = Task.isCancelled || error is CancellationError
            if isTheCallers || error is StandbyWatch.LeftBehind { throw error }
            // Even if it isn't the standby's fault: then the primary runs into the same error.
            throw Lost(cause: error)
        }
    }

    private func rest(_ duration: Duration, _ problem: String, _ count: (inout Statistics) -> Void) {
        let isNew = state.withLock { state in
            count(&state.statistics)
            state.restsUntil = .now + duration
            defer { state.lastProblem = problem }
            return state.lastProblem != problem
        }
        if isNew { logger.warning("Reading bootstraps from the primary instead of the standby: \(problem)") }
    }
}

extension PostgresServerStore {
    /// Like ``withReader(_:)``, but reads from the standby if there is one that is at the newest tick.
    ///
    /// - Throws: ``PostgresStoreError`` `.standbyLost` if the standby failed in the middle. The caller must discard
    ///   what `body` did, and call again.
    public func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        guard let standby, standby.isAvailable() else { return try await withReader(body) }
        let wanted = try await latestTick()
        let outcome = try await standby.read(
            from: wanted.number, layout: layout, isKnown: { try await self.tick($0.number)?.token == $0.token }, body)
        if case .served(let result) = outcome { return result }
        return try await withReader(body)
    }
}
