public import PostgresClient
import TomboloAuthentication
public import TomboloModel
public import TomboloPostgresStore
import TomboloServerModel

/// Brings a database up to what a schema needs: tables, changelog triggers, accounts, rights, and an app's additions.
/// Every applied step is recorded with a number and a checksum in `tombolo.migration`.
///
/// It only adds. A change that would lose data is reported and left to a person.
public struct Migrator: Sendable {
    /// The longest that a step waits for a table that is in use. After that, its transaction is rolled back and the
    /// run ends, so that nothing waits behind it for long.
    public static let lockTimeoutMilliseconds = 10_000
    /// The same in development mode, where a device waits for the step.
    public static let developmentLockTimeoutMilliseconds = 3_000
    /// The advisory lock that prevents a second run. Every database uses the same number.
    static let lockKey = DocumentTable.lockKey

    private let connection: PostgresConnection
    private let schema: Schema
    private let extensions: [any SchemaExtension]
    private let isDevelopment: Bool
    private let rolePrefix: String?
    private let documents: PlannedDocuments

    /// - Parameters:
    ///   - connection: for the role that owns the tables, or will own them. Not used by anything else meanwhile.
    ///   - extensions: what else the schema's app needs, in order.
    ///   - isDevelopment: whether devices asked for it in development mode. Everything then runs in one transaction,
    ///     tables that Tombolo didn't create are refused, and no roles are created.
    ///   - rolePrefix: the prefix for the names of the servers' roles. Nil for the database's own, or
    ///     ``RoleNames/defaultPrefix``.
    public init(
        _ connection: PostgresConnection, schema: Schema, extensions: [any SchemaExtension] = [],
        isDevelopment: Bool = false, rolePrefix: String? = nil
    ) {
        self.init(
            connection, schema: schema, extensions: extensions, isDevelopment: isDevelopment, rolePrefix: rolePrefix,
            documents: PlannedDocuments())
    }

    /// - Parameter documents: the documents that the extensions store.
    init(
        _ connection: PostgresConnection, schema: Schema, extensions: [any SchemaExtension], isDevelopment: Bool,
        rolePrefix: String?, documents: PlannedDocuments
    ) {
        self.connection = connection
        self.schema = schema
        self.extensions = extensions
        self.isDevelopment = isDevelopment
        self.rolePrefix = rolePrefix
        self.documents = documents
    }

    /// Returns what would be done. Only reads the catalog.
    public func plan() async throws -> MigrationPlan {
        let live = try await PostgresCatalog.read(connection)
        let names = try await RoleNames.read(connection, prefix: rolePrefix)
        let roles = try await RolePlan(
            schema: schema, names: names, roles: DatabaseRole.all + extensions.flatMap(\.databaseRoles),
            fixedProperties: extensions.reduce(into: [:]) { all, item in
                all.merge(item.fixedProperties) { $0.union($1) }
            }, makesRoles: !isDevelopment
        ).result(live, connection)
        var steps: [SchemaStep] = []
        if !live.systemRelations.contains("migration") { steps.append(Self.recordTable) }
        steps += roles.first
        let difference = PostgresSchema.difference(from: live, to: schema, writersMayWait: isDevelopment)
        steps += difference.steps
        if !Self.hasAccounts(live) {
            steps.append(SchemaStep(name: "accounts", sql: AuthenticationSchema.sql))
        }
        // Before documents: once a server learns of a class, it may use it.
        steps += roles.steps
        for item in extensions { steps += try await item.steps(live, connection) }
        let problems =
            [names.problem(with: rolePrefix)].compactMap { $0 } + difference.problems + documents.problems
        return MigrationPlan(
            steps: steps, problems: problems + (isDevelopment ? takeovers(live) : []), advice: roles.advice,
            notes: documents.notes, documents: documents)
    }

    /// Existing tables that classes would take over although Tombolo neither created nor adopted them.
    private func takeovers(_ live: PostgresCatalog) -> [String] {
        let known = Set(live.identifiers.tables.values)
        return schema.classes.filter { live.tables[$0.table] != nil && !known.contains($0.table) }.map { item in
            "The database has a table \(item.table) that Tombolo didn't create, so development mode leaves it alone: "
                + "give the class \(item.name) another name. To synchronise the table instead, 'migration-tool adopt' "
                + "says what it needs, and 'migration-tool apply --models FILE' does it."
        }
    }

    private static func hasAccounts(_ live: PostgresCatalog) -> Bool {
        live.systemRelations.isSuperset(of: AuthenticationSchema.tables)
            && AuthenticationSchema.functions.allSatisfy { live.functions[$0.key] == $0.value }
    }

    /// Applies ``plan()``. While one run is in progress, a second one is refused.
    /// - Parameter progress: called before each step with its number, counted from 1, and the number of steps.
    /// - Returns: the applied steps. Empty if the database was up to date.
    /// - Throws: ``MigrationError``, or the error that kept it from starting.
    @discardableResult
    public func apply(
        progress: @Sendable (_ step: SchemaStep, _ place: Int, _ total: Int) -> Void = { _, _, _ in }
    ) async throws -> [SchemaStep] {
        try await applying(progress: progress).steps
    }

    /// Like ``apply(progress:)``.
    /// - Returns: the applied plan, with its advice.
    public func applying(
        progress: @Sendable (_ step: SchemaStep, _ place: Int, _ total: Int) -> Void = { _, _, _ in }
    ) async throws -> MigrationPlan {
        try await applying(checking: { _ in }, progress: progress)
    }

    /// Like ``apply(progress:)``.
    /// - Parameter check: receives the plan before anything is done, while no other migration can run. Throws if it
    ///   must not be applied.
    func applying(
        checking check: @Sendable (MigrationPlan) async throws -> Void,
        progress: @Sendable (_ step: SchemaStep, _ place: Int, _ total: Int) -> Void
    ) async throws -> MigrationPlan {
        try await lock()
        do {
            let plan = try await applyLocked(check, progress)
            try await unlock()
            return plan
        } catch {
            try? await unlock()
            throw error
        }
    }

    /// The applied steps, and what is missing.
    public func status() async throws -> MigrationStatus {
        MigrationStatus(applied: try await records(), pending: try await plan())
    }

    private func applyLocked(
        _ check: @Sendable (MigrationPlan) async throws -> Void, _ progress: (SchemaStep, Int, Int) -> Void
    ) async throws -> MigrationPlan {
        let plan = try await plan()
        try await check(plan)
        try await run(plan, progress)
        var rest = try await self.plan()
        // Roles belong to the cluster, so a run for another database may have created some meanwhile. A step that ran
        // and is still missing is a bug.
        var done = Set(plan.steps)
        for _ in DatabaseRole.all where !rest.isEmpty && done.isDisjoint(with: rest.steps) {
            try await run(rest, progress)
            done.formUnion(rest.steps)
            rest = try await self.plan()
        }
        guard rest.isEmpty else { throw MigrationError.notSettled(steps: rest.steps.map(\.name) + rest.problems) }
        return plan
    }

    private func run(_ plan: MigrationPlan, _ progress: (SchemaStep, Int, Int) -> Void) async throws {
        guard plan.problems.isEmpty else { throw MigrationError.notAdditive(problems: plan.problems) }
        var place = 0
        for steps in plan.transactions {
            if steps[0].isTransactional {
                try await connection.transaction { connection in
                    try await connection.execute("SET LOCAL lock_timeout = \(lockTimeoutMilliseconds)")
                    for step in steps {
                        place += 1
                        progress(step, place, plan.steps.count)
                        try await run(step)
                    }
                }
            } else {
                for step in steps {
                    place += 1
                    progress(step, place, plan.steps.count)
                    try await run(step)
                }
            }
        }
    }

    private var lockTimeoutMilliseconds: Int {
        isDevelopment ? Self.developmentLockTimeoutMilliseconds : Self.lockTimeoutMilliseconds
    }

    private func run(_ step: SchemaStep) async throws {
        do {
            try await connection.execute(step.sql)
            try await connection.query(
                """
                INSERT INTO tombolo.migration (number, name, sql, checksum)
                SELECT coalesce(max(number), 0) + 1, $1, $2, encode(sha256(convert_to($2, 'UTF8')), 'hex')
                FROM tombolo.migration
                """, [.text(step.name), .text(step.sql)])
        } catch let error as PostgresError {
            throw MigrationError.stepFailed(
                name: step.name, error: error, isTransactional: step.isTransactional)
        }
    }

    private func records() async throws -> [MigrationRecord] {
        let isThere = try await connection.query("SELECT to_regclass('tombolo.migration') IS NOT NULL")
        guard try isThere[0, 0].bool else { return [] }
        return try await connection.query(
            """
            SELECT number, name, checksum, applied_at, applied_by,
                checksum = encode(sha256(convert_to(sql, 'UTF8')), 'hex')
            FROM tombolo.migration ORDER BY number
            """
        ).map { row in
            MigrationRecord(
                number: try row[0].int, name: try row[1].string, checksum: try row[2].string,
                appliedAt: .init(microsecondsSince1970: try row[3].timestampMicroseconds),
                appliedBy: try row[4].string, isIntact: try row[5].bool)
        }
    }

    private func lock() async throws {
        let result = try await connection.query("SELECT pg_try_advisory_lock($1)", [.int64(Self.lockKey)])
        guard try !result[0, 0].bool else { return }
        // The key's halves are the two numbers of a 64-bit advisory lock (PostgreSQL manual, pg_locks).
        let holders = try await connection.query(
            """
            SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND classid = ($1::bigint >> 32 & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid
            """, [.int64(Self.lockKey)])
        throw MigrationError.alreadyRunning(processID: try holders.first.map { try $0[0].int })
    }

    private func unlock() async throws {
        try await connection.query("SELECT pg_advisory_unlock($1)", [.int64(Self.lockKey)])
    }

    private static let recordTable = SchemaStep(
        name: "record of migrations",
        sql: """
            CREATE SCHEMA IF NOT EXISTS tombolo;
            REVOKE ALL ON SCHEMA tombolo FROM PUBLIC;
            CREATE TABLE IF NOT EXISTS tombolo.migration (
                number bigint PRIMARY KEY CHECK (number > 0),
                name text NOT NULL,
                sql text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                applied_by text NOT NULL DEFAULT current_user
            )
            """)
}
