import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloRules

extension Trash {
    /// The first of some objects in the trash that the app currently keeps there, with its reason, according to the
    /// app's function `tombolo.keep_TABLE_in_trash`.
    /// - Parameter now: microseconds since 1970; nil for the transaction's time.
    nonisolated(nonsending) static func keptByApp(
        of keys: Keys, at now: Int64? = nil, _ connection: PostgresConnection
    ) async throws -> (className: String, key: String, reason: String)? {
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let found = try await connection.query(
                """
                SELECT r.key, r.reason FROM (
                    SELECT k AS key, tombolo.kept_in_trash($1, k, coalesce($3::timestamptz, now())) AS reason
                    FROM unnest($2::text[]) AS k OFFSET 0) r
                WHERE r.reason IS NOT NULL LIMIT 1
                """,
                [
                    .text(name), .textArray(keys),
                    now.map { .timestamptz(microseconds: $0) } ?? .null,
                ])
            if let row = found.first { return (name, try row[0].string, try row[1].string) }
        }
        return nil
    }

    /// Why the app prevents the permanent deletion of a group; nil if it doesn't, or only because of objects that the
    /// caller may not list in the trash. If an app's function fails, it also keeps the group.
    /// - Parameter className: the class of the object that took the group along; objects of other classes are named.
    nonisolated(nonsending) func reasonToKeep(
        _ group: UUID, of className: String, for lister: Restorer, _ connection: PostgresConnection
    ) async throws -> String? {
        var found: Keys = [:]
        for item in try await Self.classesThatAreKept(of: schema, connection) {
            guard let key = item.primaryKeyIndex else { continue }
            let rows = try await connection.query(
                """
                SELECT \(columns(of: item, deciding: lister.deciding(item.name), alias: "o"))
                FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.trash_group = $1 AND o.trashed_at IS NOT NULL ORDER BY o.\(Self.key(item)) LIMIT \(Self.groupLimit)
                """, [.uuid(group)]
            ).map { try reader.row($0, of: item) }
            let listed = rows.filter { lister.may(.listTrash, item.name, $0) }
            if !listed.isEmpty { found[item.name] = listed.map { $0[key].keyText } }
        }
        guard !found.isEmpty else { return nil }
        let keys = found
        do {
            let kept = try await connection.savepoint { try await Self.keptByApp(of: keys, $0) }
            return kept.map { $0.className == className ? $0.reason : "\($0.className) \($0.key): \($0.reason)" }
        } catch let error as PostgresError where error.keepsRow {
            return error.reasonToKeep
        }
    }

    /// The classes for which the app has a function that can keep objects.
    nonisolated(nonsending) static func classesThatAreKept(
        of schema: Schema, _ connection: PostgresConnection
    ) async throws -> [ClassSchema] {
        let classes = classes(of: schema)
        let found = try await connection.query(
            """
            SELECT t FROM unnest($1::text[]) AS t
            WHERE to_regprocedure(format('tombolo.%I', 'keep_' || t || '_in_trash') || '(text, timestamptz)') IS NOT NULL
            """, [.textArray(classes.map(\.table))])
        let tables = Set(try found.map { try $0[0].string })
        return classes.filter { tables.contains($0.table) }
    }
}
