import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
package import TomboloRules
import TomboloSQL

/// What of the trash somebody should look at: as much of it as they may list.
package struct TrashAttention: Sendable {
    /// Objects that will be deleted for ever within so many days are told.
    package static let soonDays = 7
    /// Objects of a class that are counted.
    package static let countLimit = 10_000

    package struct Class: Sendable {
        package let name: String
        package let count: Int
        /// Of these, how many go within ``soonDays``.
        package let soon: Int
    }

    /// Classes with something in the trash that the subject may list.
    package let classes: [Class]
    /// What the automatic purge couldn't delete because of an error; 0 for who may not purge.
    package let failures: Int
    /// Why, of the newest one.
    package let reason: String?
    /// Why the last run of the purge ended early.
    package let problem: String?
}

extension Trash {
    package func attention(for subject: Subject, under rules: Rules) async throws -> TrashAttention {
        var found: [TrashAttention.Class] = []
        var mayPurge = false
        for item in classes {
            guard let index = schema.index(of: item.name) else { continue }
            mayPurge = mayPurge || rules.refusal(subject, .purge, ofClassAt: index) == nil
            guard let filter = try? rules.authorize(subject, .listTrash, .objects(classIndex: index)).get(),
                filter != .constant(false)
            else { continue }
            let counts = try await counts(item, filter)
            if counts.count > 0 { found.append(counts) }
        }
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

    private func counts(_ item: ClassSchema, _ filter: TomboloModel.Predicate) async throws -> TrashAttention.Class {
        var builder = try SQLBuilder(.postgresql, schema: schema, className: item.name, alias: "o")
        let condition = try builder.condition(filter)
        var parameters = try builder.parameters.map { try PostgresParameter($0) }
        parameters.append(.text(item.name))
        let name = "$\(parameters.count)"
        // A class of its own goes before the one for all; NULL is for ever.
        let result = try await pool.query(
            """
            SELECT count(*), count(*) FILTER (WHERE t.trashed_at < clock_timestamp() - make_interval(days => greatest(0, coalesce((
                SELECT coalesce(days, 1000000) FROM tombolo.trash_retention WHERE class IN (\(name), '')
                ORDER BY class DESC LIMIT 1), \(Trash.retentionDays)) - \(TrashAttention.soonDays))))
            FROM (
                SELECT o.trashed_at FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "o"
                WHERE \(condition) AND o.trashed_at IS NOT NULL LIMIT \(TrashAttention.countLimit + 1)
            ) AS t
            """, parameters)
        return TrashAttention.Class(name: item.name, count: try result[0, 0].int, soon: try result[0, 1].int)
    }
}
