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
        /// Long byte values are left out.
        package var row: Row

        /// The object's own address, even if it's in a group.
        package var address: TrashAddress { TrashAddress(className, key) }
    }

    static var nothing: RequestFailure {
        RequestFailure(
            .notFound, Wording("There is nothing in the trash with this id."),
            hint: Wording(untranslated: "Give the id of an object or a group; GET /admin/trash lists them."),
            pageHint: localized("Somebody may have restored it, or deleted it permanently."))
    }

    /// How many bytes of a value are read for each object of a group. Values of unique properties are never longer,
    /// since they fit into an index, and rules only concern short values.
    private static let readByteCount = 4 << 10

    /// The class's columns in order, for a SELECT of all objects of a group. Longer byte values, such as images, are
    /// read as empty, since a thousand images could exceed the server's memory.
    static func columns(of item: ClassSchema, alias: String) -> String {
        item.columns.map { column in
            let name = PostgresSQL.quoteIdentifier(alias, column.sqlName)
            guard case .data = column.type else { return name }
            return "CASE WHEN octet_length(\(name)) > \(readByteCount) THEN ''::bytea ELSE \(name) END"
        }.joined(separator: ", ")
    }

    /// Locks the rows, so that two administrators can't restore the same thing at once.
    nonisolated(nonsending) func members(
        of address: TrashAddress, _ connection: PostgresConnection
    ) async throws -> [Member] {
        var members: [Member] = []
        for item in classes {
            guard let (column, value) = try address.condition(item) else { continue }
            let result = try await connection.query(
                """
                SELECT \(Self.columns(of: item, alias: "o")) FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.\(column) = $1 AND o.trashed_at IS NOT NULL
                ORDER BY o.\(Self.key(item)) LIMIT \(Self.groupLimit - members.count + 1) FOR UPDATE
                """, [value])
            guard members.count + result.count <= Self.groupLimit else {
                throw RequestFailure(
                    .conflict, Wording("The group has more than \(Self.groupLimit) objects."),
                    hint: Wording(untranslated: "Name them one by one; GET /admin/trash lists them."),
                    pageHint: localized("Choose the objects one by one."))
            }
            for source in result {
                let row = try reader.row(source, of: item)
                guard let key = item.primaryKeyIndex else { continue }
                members.append(Member(className: item.name, key: row[key], row: row))
            }
        }
        return members
    }

    /// The class of the object in the trash that has this id; nil if there is none.
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
