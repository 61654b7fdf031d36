import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel

extension TrashGroups {
    /// The number of objects that the app is asked about at a time.
    package static let keepLimit = 1_000
    /// The number of groups that ``kept(filters:listing:)`` lists.
    package static let keptListLimit = 20
    /// The time limit for all of the app's functions together.
    static let keepPatience = Duration.seconds(2)

    /// An object because of which the app keeps its group.
    struct Keeper: Sendable {
        let group: String
        let className: String
        let key: String
        /// Why it's kept now; nil if it isn't.
        let now: String?
        /// Why it will be kept when its group is due, as far as the app can tell; nil if it won't be.
        let whenDue: String?
    }

    /// What the app keeps, across the whole trash.
    package struct Kept: Sendable {
        package struct Entry: Sendable {
            /// The group's address, as ``TrashAddress`` reads it.
            package let address: String
            package let className: String
            package let key: String
            /// Nil if the object was deleted meanwhile.
            package let row: Row?
            package let reason: String
        }

        /// Up to ``keptListLimit``.
        package let entries: [Entry]
        /// The number of groups that are kept.
        package let groups: Int
        /// The number of objects in these groups, by class.
        package let counts: [String: Int]
        /// Whether the app could be asked about every object that it might keep.
        package let isWhole: Bool
    }

    /// What the app currently keeps from being deleted, found with one statement.
    /// - Parameters:
    ///   - filters: by class, the objects that the caller may delete and asks for; other classes are left out.
    ///   - listing: by class, the objects that the caller may list. The others are only counted.
    package func kept(filters: [String: Predicate], listing: [String: Predicate]) async throws -> Kept {
        try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let source = try source(filters, TrashRetention())
            let names = try await Trash.classesThatAreKept(of: schema, connection).map(\.name)
                .filter { filters[$0] != nil }
            guard !source.sql.isEmpty, !names.isEmpty else {
                return Kept(entries: [], groups: 0, counts: [:], isWhole: true)
            }
            let asked = try await connection.query(
                "SELECT count(*)::int FROM (\(source.sql)) x WHERE x.class = ANY ($1)",
                [.textArray(names)] + source.parameters)[0, 0].int
            guard let all = try await keepers(source, in: nil, of: names, connection) else {
                return Kept(entries: [], groups: 0, counts: [:], isWhole: false)
            }
            let found = all.filter { $0.now != nil }
            let counts = try await connection.query(
                "SELECT x.class, count(*)::int FROM (\(source.sql)) x WHERE x.g = ANY ($1) GROUP BY 1",
                [.textArray(found.map(\.group))] + source.parameters)
            let visible = try await visible(found, listing, connection)
            let listed = found.filter { visible.contains(.string("\($0.className) \($0.key)")) }
                .prefix(Self.keptListLimit).map { keeper in
                    (keeper, schema[keeper.className].flatMap { Trash.key(keeper.key, $0) })
                }
            let rows = try await rows(
                listed.compactMap { keeper, key in key.map { (keeper.className, $0) } }, connection)
            return Kept(
                entries: listed.map { keeper, key in
                    Kept.Entry(
                        address: keeper.group, className: keeper.className, key: keeper.key,
                        row: key.flatMap { rows[TrashAddress(keeper.className, $0)] }, reason: keeper.now ?? "")
                }, groups: found.count,
                counts: Dictionary(
                    try counts.map { (try $0[0].string, try $0[1].int) }, uniquingKeysWith: { first, _ in first }),
                isWhole: asked <= Self.keepLimit)
        }
    }

    /// The objects that may be listed, each as a text of its class and key.
    private func visible(
        _ found: [Keeper], _ listing: [String: Predicate], _ connection: PostgresConnection
    ) async throws -> Set<Value> {
        let source = try source(listing, TrashRetention())
        guard !source.sql.isEmpty, !found.isEmpty else { return [] }
        return Set(
            try await connection.query(
                "SELECT x.class || ' ' || x.id FROM (\(source.sql)) x WHERE x.g = ANY ($1)",
                [.textArray(found.map(\.group))] + source.parameters
            ).map { .string(try $0[0].string) })
    }

    /// For each group, the object because of which the app keeps it, found with one time-limited statement.
    /// - Parameters:
    ///   - groups: nil for all groups; objects that are kept now are then preferred. Otherwise, objects that will be
    ///     kept when due are preferred.
    ///   - names: the classes of which the app keeps objects.
    /// - Returns: nil if the app's function fails, or takes too long.
    nonisolated(nonsending) func keepers(
        _ source: (sql: String, parameters: [PostgresParameter]), in groups: [String]?, of names: [String],
        _ connection: PostgresConnection
    ) async throws -> [Keeper]? {
        guard !names.isEmpty, groups?.isEmpty != true else { return [] }
        let wanted = groups == nil ? "$1::text[] = '{}'" : "x.g = ANY ($1)"
        let first = groups == nil ? "k.now" : "k.later"
        let classNames = "$\(source.parameters.count + 2)"
        do {
            let found = try await connection.savepoint { connection in
                try await connection.execute(
                    "SET LOCAL statement_timeout = \(Self.keepPatience.patient.components.seconds * 1_000)")
                return try await connection.query(
                    """
                    SELECT DISTINCT ON (k.g) k.g, k.class, k.id, k.now, k.later FROM (
                        SELECT a.g, a.class, a.id, tombolo.kept_in_trash(a.class, a.id, now()) AS now,
                            CASE WHEN a.due < 'infinity' THEN
                                tombolo.kept_in_trash(a.class, a.id, greatest(a.due, now())) END AS later
                        FROM (
                            SELECT d.g, d.class, d.id, d.due FROM (
                                SELECT x.g, x.class, x.id, max(x.p) OVER (PARTITION BY x.g) AS due
                                FROM (\(source.sql)) x WHERE \(wanted)) d
                            WHERE d.class = ANY (\(classNames)) ORDER BY d.g, d.class, d.id LIMIT \(Self.keepLimit)
                        ) a OFFSET 0) k
                    WHERE k.now IS NOT NULL OR k.later IS NOT NULL
                    ORDER BY k.g, \(first) IS NULL, k.class, k.id
                    """, [.textArray(groups ?? [])] + source.parameters + [.textArray(names)])
            }
            try await connection.execute("SET LOCAL statement_timeout TO DEFAULT")
            return try found.map { row in
                Keeper(
                    group: try row[0].string, className: try row[1].string, key: try row[2].string,
                    now: try row[3].nonNull?.string, whenDue: try row[4].nonNull?.string)
            }
        } catch let error as PostgresError where error.keepsRow || error.code == .queryCanceled {
            return nil
        }
    }
}
