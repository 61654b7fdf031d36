import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// Links of embedded objects to objects in the trash. Callers read them as null, so sending null back mustn't remove
/// them.
struct HiddenLinks {
    let item: ClassSchema
    let schema: Schema

    /// The columns with links that stay although null is written. A link goes together with its embedded object.
    nonisolated(nonsending) func kept(
        old: (Int) -> Value?, new: (Int) -> Value?, _ connection: PostgresConnection
    ) async throws -> Set<Int> {
        var kept: Set<Int> = []
        for (index, column) in item.columns.enumerated() where isWithin(column, new) && new(index) == .null {
            guard let target = schema.trashableTarget(of: column), let key = target.primaryKey,
                let link = old(index), !link.isNull
            else { continue }
            let found = try await connection.query(
                """
                SELECT EXISTS (SELECT FROM \(PostgresSQL.quoteIdentifier(target.table)) AS "t" \
                WHERE \(PostgresSQL.quoteIdentifier("t", key.sqlName)) = $1 \
                AND \(RowReader.isIn(trash: true, target, alias: "t")))
                """, [try PostgresParameter(link, as: schema.storedType(of: column))])
            if try found[0, 0].bool { kept.insert(index) }
        }
        return kept
    }

    /// Whether a column belongs to an embedded object that stays, or to the element itself.
    private func isWithin(_ column: Column, _ new: (Int) -> Value?) -> Bool {
        guard let end = column.name.lastIndex(of: ".") else { return item.owner != nil }
        return item.columnIndex(String(column.name[..<end])).map { new($0) != .null } ?? false
    }
}

extension Schema {
    /// The target class of a link, if its objects can be in the trash.
    func trashableTarget(of column: Column) -> ClassSchema? {
        guard let target = column.linkTarget.flatMap({ self[$0] }), target.isTrashable, target.primaryKey != nil else {
            return nil
        }
        return target
    }
}
