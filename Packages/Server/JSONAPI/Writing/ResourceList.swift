import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// Writes the contents of a list of values or links. Elements are objects of their own. Those that stay aren't touched,
/// so that devices that change them at the same time lose nothing.
struct ResourceList {
    private let item: ClassSchema
    private let contentType: PropertyType
    private let ownerType: PropertyType
    /// The target class of a list of links, if its objects can be in the trash.
    private let target: ClassSchema?

    init(_ elements: Int, of type: ResourceType, _ schema: Schema) {
        item = schema[elements]
        contentType = schema.storedType(of: schema[elements].columns[ElementColumn.content])
        ownerType = type.keyType
        let linked = item.columns[ElementColumn.content].linkTarget.flatMap { schema[$0] }
        target = linked?.isTrashable == true ? linked : nil
    }

    private struct Element {
        let id: Value
        let rank: String
        let content: Value
    }

    private func column(_ index: Int) -> String { PostgresSQL.quoteIdentifier(item.columns[index].sqlName) }
    private var table: String { PostgresSQL.quoteIdentifier(item.table) }

    /// Gives an object's list these contents, in this order. The object must be locked.
    /// - Parameter parent: for a list inside another list, the element that has it.
    nonisolated(nonsending) func write(
        _ contents: [Value], owner: Value, parent: Value? = nil, _ connection: PostgresConnection
    ) async throws {
        let old = try await elements(owner, parent, connection)
        var start = 0
        while start < old.count, start < contents.count, old[start].content == contents[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < contents.count - start,
            old[old.count - 1 - end].content == contents[contents.count - 1 - end]
        {
            end += 1
        }
        try await delete(old[start..<(old.count - end)].map(\.id), connection)
        try await insert(
            Array(contents[start..<(contents.count - end)]), owner, parent, behind: Array(old.prefix(start)),
            before: Array(old.suffix(end)), connection)
    }

    /// Appends those that the list doesn't have yet.
    nonisolated(nonsending) func add(_ contents: [Value], owner: Value, _ connection: PostgresConnection) async throws {
        let old = try await elements(owner, nil, connection)
        var known = Set(old.map(\.content))
        let added = contents.filter { known.insert($0).inserted }
        try await insert(added, owner, nil, behind: old, before: [], connection)
    }

    /// Removes those that aren't among these.
    nonisolated(nonsending) func keep(
        _ contents: [Value], owner: Value, _ connection: PostgresConnection
    ) async throws {
        let kept = Set(contents)
        let old = try await elements(owner, nil, connection)
        try await delete(old.filter { !kept.contains($0.content) }.map(\.id), connection)
    }

    nonisolated(nonsending) func remove(
        _ contents: [Value], owner: Value, _ connection: PostgresConnection
    ) async throws {
        let removed = Set(contents)
        let old = try await elements(owner, nil, connection)
        try await delete(old.filter { removed.contains($0.content) }.map(\.id), connection)
    }

    // MARK: Rows

    /// The elements in their order. Links to objects in the trash are left out: the caller can't see them, and they
    /// stay.
    nonisolated(nonsending) private func elements(
        _ owner: Value, _ parent: Value?, _ connection: PostgresConnection
    ) async throws -> [Element] {
        func own(_ index: Int) -> String { PostgresSQL.quoteIdentifier("e", item.columns[index].sqlName) }
        let names = [ElementColumn.id, ElementColumn.rank, ElementColumn.content].map(own)
        var condition = "\(own(ElementColumn.owner)) = $1"
        var parameters = [try PostgresParameter(owner, as: ownerType)]
        if let parent, let parentColumn = item.parentColumn {
            parameters.append(try PostgresParameter(parent, as: .objectId))
            condition += " AND \(own(parentColumn)) = $2"
        }
        if let target, let key = target.primaryKey {
            condition += """
                 AND NOT EXISTS (SELECT FROM \(PostgresSQL.quoteIdentifier(target.table)) AS "t" \
                WHERE \(PostgresSQL.quoteIdentifier("t", key.sqlName)) = \(names[2]) \
                AND \(RowReader.isIn(trash: true, target, alias: "t")))
                """
        }
        let found = try await connection.query(
            """
            SELECT \(names.joined(separator: ", ")) FROM \(table) AS "e"
            WHERE \(condition) ORDER BY \(names[1]), \(names[0])
            """, parameters)
        return try found.map { row in
            Element(
                id: try row[0].value(of: .objectId), rank: try row[1].string, content: try row[2].value(of: contentType)
            )
        }
    }

    nonisolated(nonsending) private func delete(_ ids: [Value], _ connection: PostgresConnection) async throws {
        guard !ids.isEmpty else { return }
        try await connection.query(
            "DELETE FROM \(table) WHERE \(column(ElementColumn.id)) = ANY ($1)",
            [try PostgresParameter(list: ids, of: .objectId)])
    }

    nonisolated(nonsending) private func rank(
        _ elements: [Element], _ ranks: [String], _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            UPDATE \(table) AS "e" SET \(column(ElementColumn.rank)) = n.rank FROM unnest($1, $2) AS n (id, rank)
            WHERE \(PostgresSQL.quoteIdentifier("e", item.columns[ElementColumn.id].sqlName)) = n.id
            """, [try PostgresParameter(list: elements.map(\.id), of: .objectId), .textArray(ranks)])
    }

    /// - Parameters:
    ///   - first: all elements of the list that come before the new ones.
    ///   - last: all elements that come after them.
    nonisolated(nonsending) private func insert(
        _ contents: [Value], _ owner: Value, _ parent: Value?, behind first: [Element], before last: [Element],
        _ connection: PostgresConnection
    ) async throws {
        guard !contents.isEmpty else { return }
        let ranks: [String]
        do throws(ValueError) {
            ranks = try FractionalRank.sequence(
                count: contents.count, between: first.last?.rank, last.first?.rank)
        } catch {
            // There is no room between the ranks, for example because two are the same: the whole list gets new ranks.
            let all = try FractionalRank.sequence(
                count: first.count + contents.count + last.count, between: nil, nil)
            ranks = Array(all.dropFirst(first.count).prefix(contents.count))
            try await rank(first + last, Array(all.prefix(first.count) + all.suffix(last.count)), connection)
        }
        var names = [ElementColumn.id, ElementColumn.owner, ElementColumn.rank, ElementColumn.content].map(column)
        var values = "n.id, $1, n.rank, n.content"
        var parameters = [
            try PostgresParameter(owner, as: ownerType),
            try PostgresParameter(list: contents.map { _ in .objectId(.generate()) }, of: .objectId),
            .textArray(ranks), try PostgresParameter(list: contents, of: contentType),
        ]
        if let parent, let parentColumn = item.parentColumn {
            names.append(column(parentColumn))
            values += ", $5"
            parameters.append(try PostgresParameter(parent, as: .objectId))
        }
        try await connection.query(
            """
            INSERT INTO \(table) (\(names.joined(separator: ", ")))
            SELECT \(values) FROM unnest($2, $3, $4) AS n (id, rank, content)
            """, parameters)
    }
}
