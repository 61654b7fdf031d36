import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
package import TomboloRules
import TomboloSQL

/// What in the trash needs somebody's attention, limited to what the subject may list.
package struct TrashAttention: Sendable {
    /// Reports objects that will be permanently deleted within this many days.
    package static let soonDays = 7
    /// The most objects of a class that are counted.
    package static let countLimit = 10_000

    package struct Class: Sendable {
        package let name: String
        package let count: Int
        /// How many of these will be deleted within ``soonDays``, without those that are known to stay.
        package let soon: Int
    }

    /// Classes with something in the trash that the subject may list.
    package let classes: [Class]
    /// The number of groups that the automatic purge couldn't delete because of an error; 0 for subjects who may not
    /// purge.
    package let failures: Int
    /// The reason of the newest failure.
    package let reason: String?
    /// Why the last run of the purge ended early.
    package let problem: String?
}

extension Trash {
    package func attention(for subject: Subject, under rules: Rules) async throws -> TrashAttention {
        let mayPurge = classes.contains { item in
            schema.index(of: item.name).map { rules.refusal(subject, .purge, ofClassAt: $0) == nil } ?? false
        }
        var filters: [String: TomboloModel.Predicate] = [:]
        for item in classes {
            guard let index = schema.index(of: item.name),
                let filter = try? rules.authorize(subject, .listTrash, .objects(classIndex: index)).get(),
                filter != .constant(false)
            else { continue }
            filters[item.name] = filter
        }
        let found = try await counts(filters)
        guard mayPurge else { return TrashAttention(classes: found, failures: 0, reason: nil, problem: nil) }
        let kept = try await pool.query(
            """
            SELECT count(*), (SELECT reason FROM tombolo.trash_kept WHERE is_failure ORDER BY last_at DESC, address LIMIT 1),
                (SELECT problem FROM tombolo.trash_run ORDER BY id DESC LIMIT 1)
            FROM tombolo.trash_kept WHERE is_failure
            """)
        return TrashAttention(
            classes: found, failures: try kept[0, 0].int, reason: try kept[0, 1].nonNull?.string,
            problem: try kept[0, 2].nonNull?.string)
    }

    /// The classes with objects in the trash that match the filters.
    private func counts(_ filters: [String: TomboloModel.Predicate]) async throws -> [TrashAttention.Class] {
        try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let retention = try await TrashRetention.read(connection)
            func counts(without kept: [String]) async throws -> [TrashAttention.Class] {
                var found: [TrashAttention.Class] = []
                for item in classes {
                    guard let filter = filters[item.name] else { continue }
                    let counts = try await self.counts(item, filter, without: kept, retention, connection)
                    if counts.count > 0 { found.append(counts) }
                }
                return found
            }
            let all = try await counts(without: [])
            guard all.contains(where: { $0.soon > 0 }) else { return all }
            let kept = try await TrashGroups(schema: schema, hidden: [:], pool: pool)
                .keptWhenDue(withinDays: TrashAttention.soonDays, filters: filters, retention, connection)
            return kept.isEmpty ? all : try await counts(without: kept)
        }
    }

    /// - Parameter kept: addresses of groups that don't count as being deleted soon.
    nonisolated(nonsending) private func counts(
        _ item: ClassSchema, _ filter: TomboloModel.Predicate, without kept: [String], _ retention: TrashRetention,
        _ connection: PostgresConnection
    ) async throws -> TrashAttention.Class {
        let condition = try filter.sql(
            .postgresql, className: item.name, in: schema, alias: "o", firstParameter: 2)
        let result = try await connection.query(
            """
            SELECT count(*), count(*) FILTER (
                WHERE t.p < now() + make_interval(days => \(TrashAttention.soonDays)) AND t.g <> ALL ($1))
            FROM (
                SELECT \(Trash.address(item)) AS g, \(retention.time(of: item)) AS p
                FROM \(PostgresSQL.quoteIdentifier(item.table)) o
                WHERE o.trashed_at IS NOT NULL AND \(condition.sql) LIMIT \(TrashAttention.countLimit + 1)
            ) AS t
            """, [.textArray(kept)] + condition.parameters.map { try PostgresParameter($0) })
        return TrashAttention.Class(name: item.name, count: try result[0, 0].int, soon: try result[0, 1].int)
    }
}
