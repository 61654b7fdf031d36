import PostgresClient
import PostgresValues
import TomboloModel

extension TrashGroups {
    /// Why a group isn't permanently deleted.
    struct Reason: Sendable {
        let text: String
        /// Whether the group won't be deleted when it's due: the purge kept it then, or the app says that it will be kept.
        let holdsWhenDue: Bool
    }

    /// Why the app keeps groups, or why the automatic purge kept them when they were due, by address. The key is a
    /// text value, since addresses are compared by their bytes. Groups that nothing keeps are left out.
    /// - Parameter source: the result of ``source(_:_:)`` for what the caller may list.
    nonisolated(nonsending) func reasons(
        _ source: (sql: String, parameters: [PostgresParameter]), of addresses: [String],
        _ connection: PostgresConnection
    ) async throws -> [Value: Reason] {
        guard !source.sql.isEmpty, !addresses.isEmpty else { return [:] }
        let purged = try await texts(
            "SELECT k.address, k.reason FROM tombolo.trash_kept k WHERE k.address = ANY ($1)", addresses, connection)
        var reasons = purged.mapValues { Reason(text: $0, holdsWhenDue: true) }
        let names = try await Trash.classesThatAreKept(of: schema, connection).map(\.name)
        for keeper in try await keepers(source, in: addresses, of: names, connection) ?? [] {
            guard let text = keeper.whenDue ?? keeper.now else { continue }
            reasons[.string(keeper.group)] = Reason(text: text, holdsWhenDue: keeper.whenDue != nil)
        }
        return reasons
    }

    /// The groups with an object that is due within some days, but that won't be deleted then. Examines at most
    /// ``keepLimit`` groups that are due.
    nonisolated(nonsending) func keptWhenDue(
        withinDays days: Int, filters: [String: Predicate], _ retention: TrashRetention,
        _ connection: PostgresConnection
    ) async throws -> [String] {
        let source = try source(filters, retention)
        guard !source.sql.isEmpty else { return [] }
        let due = try await connection.query(
            """
            SELECT x.g FROM (\(source.sql)) x WHERE x.p < now() + make_interval(days => $1)
            GROUP BY x.g ORDER BY min(x.p), x.g LIMIT \(Self.keepLimit)
            """, [.int32(Int32(days))] + source.parameters)
        return try await reasons(source, of: due.map { try $0[0].string }, connection)
            .filter { $0.value.holdsWhenDue }.map(\.key.keyText)
    }
}
