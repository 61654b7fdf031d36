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
        /// Long texts and bytes that decide nothing are left out.
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

    /// The properties of a class that decide something about an object, which are read in full however long they are.
    typealias Deciding = @Sendable (_ className: String) -> [PropertyPath]

    /// How many bytes of any other value are read for each object of a group.
    private static let readByteCount = 4 << 10

    /// The class's columns in order, for a SELECT of all objects of a group. Longer texts and bytes are read as empty,
    /// since a thousand descriptions or images could exceed the server's memory.
    func columns(of item: ClassSchema, deciding paths: [PropertyPath], alias: String) -> String {
        let whole = Set(paths.compactMap { item.columnIndex($0.description) } + item.uniqueColumns.joined())
        return item.columns.enumerated().map { index, column in
            let name = PostgresSQL.quoteIdentifier(alias, column.sqlName)
            guard !column.isPrimaryKey, column.linkTarget == nil, !whole.contains(index) else { return name }
            let empty: String
            switch schema.storedType(of: column) {
            case .string: empty = "''"
            case .data: empty = "''::bytea"
            default: return name
            }
            return "CASE WHEN octet_length(\(name)) > \(Self.readByteCount) THEN \(empty) ELSE \(name) END"
        }.joined(separator: ", ")
    }

    /// Locks the rows, so that two administrators can't restore the same thing at once.
    nonisolated(nonsending) func members(
        of address: TrashAddress, deciding: Deciding, _ connection: PostgresConnection
    ) async throws -> [Member] {
        var members: [Member] = []
        for item in classes {
            guard let (column, value) = try address.condition(item) else { continue }
            let result = try await connection.query(
                """
                SELECT \(columns(of: item, deciding: deciding(item.name), alias: "o"))
                FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
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
