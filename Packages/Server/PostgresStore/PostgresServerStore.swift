internal import Batching
public import Logging
public import PostgresClient
internal import Synchronization
public import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// The server's rows in PostgreSQL, in tables that any service may read and write; see ``PostgresSchema``.
///
/// Its role owns the tables, or is a member of the role that does. If a table or column is renamed while the store is
/// in use, the store finds it again by its number: the classes and their positions don't change.
public final class PostgresServerStore: ServerStore {
    /// How often a reader retries with a newer tick when the newest one's snapshot is gone, and how long it waits in
    /// between.
    public static let importAttempts = (limit: 100, interval: Duration.milliseconds(20))

    /// The time limit for one statement of a reader: a count, or the next rows of a class. A read whose device is
    /// gone is normally stopped by cancelling it; this limit stops reads whose cancel request never arrived.
    public static let readStatementTimeout = Duration.seconds(120)

    public let schema: Schema
    private let named: Mutex<StoreLayout>
    /// The classes with their last known SQL names.
    var layout: StoreLayout { named.withLock { $0 } }
    package let pool: PostgresPool
    /// The standby to read bootstraps from while it's usable.
    let standby: PostgresStandby?
    /// See ``BulkRowSearch/maximumRowCount``.
    let maximumBulkRowCount: Int
    private let hasOthers: @Sendable () -> Bool
    let logger: Logger
    private let sequencer: Sequencer
    let openings: RequestBatcher<ClientOpenings.Request, ClientOpening>
    private let ticks: RequestBatcher<Int64, Tick?>

    /// Reads the numbers of classes and columns.
    /// - Parameters:
    ///   - standby: the standby to read bootstraps from while it's usable. Nil to use only the primary.
    ///   - hasOthers: whether several users are waiting for the database. Searches then pause to leave it time, see
    ///     ``SearchPause``.
    /// - Throws: ``PostgresStoreError`` if the database lacks a class, and has to be migrated first.
    public static func open(
        schema: Schema, pool: PostgresPool, standby: PostgresStandby? = nil,
        hasOthers: @escaping @Sendable () -> Bool = { false }, logger: Logger = Logger(label: "tombolo.store")
    ) async throws -> PostgresServerStore {
        try await open(
            schema: schema, pool: pool, standby: standby, maximumBulkRowCount: BulkRowSearch.maximumRowCount,
            hasOthers: hasOthers, logger: logger)
    }

    /// - Parameter snapshotAge: replaces ``Sequencer/maximumSnapshotAge`` in the store's own sequencer.
    static func open(
        schema: Schema, pool: PostgresPool, standby: PostgresStandby? = nil, maximumBulkRowCount: Int,
        snapshotAge: Duration = Sequencer.maximumSnapshotAge, hasOthers: @escaping @Sendable () -> Bool = { false },
        logger: Logger
    ) async throws -> PostgresServerStore {
        let identifiers: SchemaIdentifiers
        let digest: String
        do {
            (digest, identifiers) = try await pool.withConnection {
                (try await SchemaDigest.read($0), try await SchemaIdentifiers.read($0))
            }
        } catch let error as PostgresError where error.code == .undefinedTable {
            throw PostgresStoreError(.schema, "The database has no Tombolo tables yet. Run the migration tool.")
        }
        return PostgresServerStore(
            layout: try StoreLayout(schema: schema, identifiers: identifiers, digest: digest), pool: pool,
            standby: standby, maximumBulkRowCount: maximumBulkRowCount, snapshotAge: snapshotAge, hasOthers: hasOthers,
            logger: logger)
    }

    private init(
        layout: StoreLayout, pool: PostgresPool, standby: PostgresStandby?, maximumBulkRowCount: Int,
        snapshotAge: Duration, hasOthers: @escaping @Sendable () -> Bool, logger: Logger
    ) {
        self.hasOthers = hasOthers
        self.standby = standby
        self.maximumBulkRowCount = maximumBulkRowCount
        schema = layout.schema
        named = Mutex(layout)
        self.pool = pool
        self.logger = logger
        sequencer = Sequencer(configuration: pool.configuration, snapshotAge: snapshotAge, logger: logger)
        ticks = RequestBatcher(
            BatchBounds(size: 1_000, waiting: ClientOpenings.bounds.waiting),
            overload: PostgresPoolError.tooManyWaiters(limit: ClientOpenings.bounds.waiting)
        ) { numbers in
            let known = try await StoredTick.numbered(Set(numbers), pool)
            return numbers.map { .success(known[$0]) }
        }
        openings = RequestBatcher(
            ClientOpenings.bounds, overload: PostgresPoolError.tooManyWaiters(limit: ClientOpenings.bounds.waiting)
        ) { requests in
            try await pool.withConnection { try await ClientOpenings.open(requests, $0) }
        }
    }

    // MARK: Ticks

    /// The first call makes the store stand for election as sequencer. Server processes run a ``Sequencer`` instead.
    public func makeTick() async throws -> Tick? { try await sequencer.makeTick() }

    /// Stops being the sequencer, after calls of ``makeTick()``.
    public func resign() async { await sequencer.resign() }

    public func latestTick() async throws -> Tick {
        try await pool.withConnection { try await StoredTick.latest($0)?.tick } ?? .origin
    }

    public func tick(_ number: Int64) async throws -> Tick? {
        if number == 0 { return .origin }
        return try await ticks.answer(number)
    }

    // MARK: Reading

    public func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        let layout = layout
        let read: (result: Result, digest: String)
        do {
            read = try await pool.withConnection { connection in
                do {
                    let stored = try await self.importNewestSnapshot(connection)
                    let result = try await body(
                        PostgresTickReader(
                            stored: stored, connection: connection, layout: layout, pausesSearches: hasOthers()))
                    try await connection.execute("COMMIT")
                    return (result, try await SchemaDigest.read(connection))
                } catch {
                    // Not an ordinary statement, which a cancelled task would not send.
                    await connection.rollback()
                    throw error
                }
            }
        } catch let error as PostgresError where error.isMissingName {
            guard try await followRenames(since: layout) else { throw error }
            throw PostgresStoreError.renamedMeanwhile
        }
        // A column that was renamed meanwhile may have given its name to another, and the read used that one.
        if read.digest != layout.digest, try await followRenames(since: layout) {
            throw PostgresStoreError.renamedMeanwhile
        }
        return read.result
    }

    /// Looks up the current names of tables and columns.
    /// - Parameter layout: has the names that the caller used.
    /// - Returns: whether any name has changed, so that a retry makes sense.
    func followRenames(since layout: StoreLayout) async throws -> Bool {
        let (digest, identifiers) = try await pool.withConnection {
            (try await SchemaDigest.read($0), try await SchemaIdentifiers.read($0))
        }
        let followed = layout.following(identifiers, digest: digest)
        named.withLock { $0 = followed }
        guard followed.schema != layout.schema else { return false }
        logger.notice("Tables or columns were renamed in the database; now using the new names.")
        return true
    }

    /// Opens a transaction that sees the database as of the newest tick.
    private func importNewestSnapshot(_ connection: PostgresConnection) async throws -> StoredTick {
        for _ in 0..<Self.importAttempts.limit {
            if let stored = try await StoredTick.latest(connection) {
                do {
                    try await connection.execute(
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                            + "SET TRANSACTION SNAPSHOT \(PostgresSQL.quoteLiteral(stored.exported)); "
                            + "SET LOCAL jit = off; "
                            // Without this, a slow read would take all of the database's processors instead of one.
                            + "SET LOCAL max_parallel_workers_per_gather = 0; "
                            + "SET LOCAL statement_timeout = \(Self.readStatementTimeout.components.seconds * 1_000)"
                    )
                    return stored
                } catch let error as PostgresError where error.isMissingSnapshot {
                    try await connection.execute("ROLLBACK")
                }
            }
            try await Task.sleep(for: Self.importAttempts.interval)
        }
        throw PostgresStoreError(
            .noSequencer,
            "Can't read any tick: its sequencer is gone and no other has taken over. Start a gateway with a sequencer.")
    }
}

extension PostgresError {
    /// The transaction that exported the snapshot has ended. In a restored database, a snapshot of the same name may
    /// belong to another database.
    var isMissingSnapshot: Bool {
        code == "22023" || code == .undefinedObject || code == .objectNotInPrerequisiteState || code == "0A000"
    }

    /// A table or column doesn't exist, at least under this name.
    public var isMissingName: Bool { code == .undefinedTable || code == .undefinedColumn }
}
