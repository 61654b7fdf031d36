import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

extension Trash {
    /// An object in the trash.
    package struct Member: Hashable, Sendable {
        package let className: String
        package let key: Value
        package var row: Row

        /// Its own, which it has also in a group.
        package var address: TrashAddress { TrashAddress(className, key) }
    }

    static var nothing: RequestFailure {
        RequestFailure(
            .notFound, localized("There is nothing in the trash with this id."),
            hint: "GET /admin/trash lists what there is; give the id of an object or of a group.")
    }

    /// Rows are locked, so that two administrators do not restore the same thing at once.
    nonisolated(nonsending) func members(
        of address: TrashAddress, _ connection: PostgresConnection
    ) async throws -> [Member] {
        var members: [Member] = []
        for item in classes {
            guard let (column, value) = try address.condition(item) else { continue }
            let result = try await connection.query(
                """
                SELECT \(RowReader.columns(of: item, alias: "o")) FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.\(column) = $1 AND o.trashed_at IS NOT NULL
                ORDER BY o.\(Self.key(item)) LIMIT \(Self.groupLimit - members.count + 1) FOR UPDATE
                """, [value])
            guard members.count + result.count <= Self.groupLimit else {
                throw RequestFailure(
                    .conflict, localized("The group has more than \(Self.groupLimit) objects."),
                    hint: "Name them one by one; GET /admin/trash lists them.")
            }
            for source in result {
                let row = try reader.row(source, of: item)
                guard let key = item.primaryKeyIndex else { continue }
                members.append(Member(className: item.name, key: row[key], row: row))
            }
        }
        return members
    }

    /// The class of the object in the trash that has an id; nil if there is none.
    package func className(of id: ObjectId) async throws -> String? {
        for item in classes where item.primaryKey?.type == .objectId {
            let found = try await pool.query(
                """
                SELECT 1 FROM \(PostgresSQL.quoteIdentifier(item.table)) o
                WHERE o.\(Self.key(item)) = $1 AND o.trashed_at IS NOT NULL
                """, [.objectId(id)])
            if !found.isEmpty { return item.name }
        }
        return nil
    }
}
