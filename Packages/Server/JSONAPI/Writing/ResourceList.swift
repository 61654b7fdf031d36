import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// Writes the contents of a list: elements are objects of their own, and those that stay are left alone, so that
/// devices that change them at the same time lose nothing.
struct ResourceList {
    private let item: ClassSchema
    private let contentType: PropertyType
    private let ownerType: PropertyType

    init(_ elements: Int, of type: ResourceType, _ schema: Schema) {
        item = schema[elements]
        contentType = schema.storedType(of: schema[elements].columns[ElementColumn.content])
        ownerType = type.keyType
    }

    private func column(_ index: Int) -> String { PostgresSQL.quoteIdentifier(item.columns[index].sqlName) }

    /// Makes the list of an object have these contents, in this order. The object is locked.
    nonisolated(nonsending) func write(
        _ contents: [Value], owner: Value, _ connection: PostgresConnection
    ) async throws {
        let table = PostgresSQL.quoteIdentifier(item.table)
        let owner = try PostgresParameter(owner, as: ownerType)
        let (id, rank) = (column(ElementColumn.id), column(ElementColumn.rank))
        let found = try await connection.query(
            """
            SELECT \(id), \(rank), \(column(ElementColumn.content)) FROM \(table)
            WHERE \(column(ElementColumn.owner)) = $1 ORDER BY \(rank), \(id)
            """, [owner])
        let old = try found.map { row in
            (id: try row[0].value(of: .objectId), rank: try row[1].string, content: try row[2].value(of: contentType))
        }
        var start = 0
        while start < old.count, start < contents.count, old[start].content == contents[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < contents.count - start,
            old[old.count - 1 - end].content == contents[contents.count - 1 - end]
        {
            end += 1
        }
        let removed = old[start..<(old.count - end)].map(\.id)
        if !removed.isEmpty {
            try await connection.query(
                "DELETE FROM \(table) WHERE \(id) = ANY ($1)", [try PostgresParameter(list: removed, of: .objectId)])
        }
        let added = Array(contents[start..<(contents.count - end)])
        guard !added.isEmpty else { return }
        let ranks = try FractionalRank.sequence(
            count: added.count, between: start > 0 ? old[start - 1].rank : nil,
            end > 0 ? old[old.count - end].rank : nil)
        let names = [ElementColumn.id, ElementColumn.owner, ElementColumn.rank, ElementColumn.content].map(column)
        try await connection.query(
            """
            INSERT INTO \(table) (\(names.joined(separator: ", ")))
            SELECT n.id, $1, n.rank, n.content FROM unnest($2, $3, $4) AS n (id, rank, content)
            """,
            [
                owner, try PostgresParameter(list: added.map { _ in .objectId(.generate()) }, of: .objectId),
                .textArray(ranks), try PostgresParameter(list: added, of: contentType),
            ])
    }
}
