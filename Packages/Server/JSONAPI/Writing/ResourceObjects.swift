import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore

/// Writes a list of embedded objects. An element that names its id, or has the same values as an existing element,
/// stays that element. Concurrent edits of it elsewhere are merged, and only values that differ are written.
struct ResourceObjects {
    private let elements: Int
    private let item: ClassSchema
    private let type: ResourceType
    private let schema: Schema
    /// The positions of the columns with an element's properties.
    private let columns: [Int]

    init(_ elements: Int, of type: ResourceType, _ schema: Schema) {
        self.elements = elements
        self.type = type
        self.schema = schema
        item = schema[elements]
        let end = schema[elements].parentColumn ?? schema[elements].columns.count
        columns = (ElementColumn.content..<end).filter { !schema[elements].columns[$0].isRetired }
    }

    private struct Old {
        let id: Value
        let rank: String
        let values: [Int: Value]
    }

    /// An element of the new contents.
    private struct New {
        let contents: ResourceContents
        let pointer: RequestPointer
        var old: Old?
        var id = Value.objectId(.generate())
        var rank = ""
    }

    private var table: String { PostgresSQL.quoteIdentifier(item.table) }
    private func name(_ index: Int) -> String { PostgresSQL.quoteIdentifier(item.columns[index].sqlName) }
    private func stored(_ index: Int) -> PropertyType { schema.storedType(of: item.columns[index]) }

    /// Gives an object's list these elements, in this order. The object must be locked.
    /// - Parameter parent: for a list inside another list, the element that has it.
    nonisolated(nonsending) func write(
        _ wanted: [ResourceContents.Element], owner: Value, parent: Value? = nil, _ connection: PostgresConnection
    ) async throws {
        let old = try await read(owner, parent, connection)
        var new = Self.matched(wanted, old)
        Self.rank(&new, old)
        let kept = Set(new.compactMap { $0.old?.id })
        let removed = old.map(\.id).filter { !kept.contains($0) }
        if !removed.isEmpty {
            try await connection.query(
                "DELETE FROM \(table) WHERE \(name(ElementColumn.id)) = ANY ($1)",
                [try PostgresParameter(list: removed, of: .objectId)])
        }
        for element in new { try await located(element) { try await update(element, connection) } }
        try await insert(new.filter { $0.old == nil }, owner, parent, connection)
        for element in new {
            try await located(element) {
                for (list, contents) in element.contents.lists {
                    try await ResourceList(list, of: type, schema)
                        .write(contents, owner: owner, parent: element.id, connection)
                }
                for (list, objects) in element.contents.objects {
                    try await ResourceObjects(list, of: type, schema)
                        .write(objects, owner: owner, parent: element.id, connection)
                }
            }
        }
    }

    // MARK: What becomes of which element

    private static func matched(_ wanted: [ResourceContents.Element], _ old: [Old]) -> [New] {
        var left = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        var new = wanted.map { element in
            var new = New(contents: element.contents, pointer: element.pointer)
            new.old = element.id.flatMap { left.removeValue(forKey: .objectId($0)) }
            return new
        }
        // Elements without an id can only be recognised by their values.
        var byValues = Dictionary(grouping: old.filter { left[$0.id] != nil }.reversed(), by: \.values)
        for index in new.indices where new[index].old == nil {
            new[index].old = byValues[new[index].contents.values]?.popLast()
        }
        for index in new.indices {
            if let old = new[index].old { new[index].id = old.id }
        }
        return new
    }

    /// Assigns ranks to the elements. As many as possible keep theirs, so that a move only rewrites what was moved.
    private static func rank(_ new: inout [New], _ old: [Old]) {
        let places = Dictionary(old.enumerated().map { ($1.id, $0) }) { first, _ in first }
        let kept = longestAscent(new.map { $0.old.flatMap { places[$0.id] } })
        for index in kept { new[index].rank = new[index].old?.rank ?? "" }
        do throws(ValueError) {
            var start = 0
            var lower: String?
            for end in kept + [new.count] {
                let upper = end < new.count ? new[end].rank : nil
                let ranks = try FractionalRank.sequence(count: end - start, between: lower, upper)
                for (index, rank) in zip(start..<end, ranks) { new[index].rank = rank }
                (start, lower) = (end + 1, upper)
            }
        } catch {
            // There is no room between the ranks, for example because two are the same: the whole list gets new ranks.
            let ranks = (try? FractionalRank.sequence(count: new.count, between: nil, nil)) ?? []
            for (index, rank) in zip(new.indices, ranks) { new[index].rank = rank }
        }
    }

    /// The indexes of a longest ascending subsequence.
    private static func longestAscent(_ numbers: [Int?]) -> [Int] {
        // For each length, the index of the smallest number that ends an ascent of this length.
        var ends: [Int] = []
        var previous: [Int?] = Array(repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            guard let number else { continue }
            let place = ends.firstIndex { (numbers[$0] ?? 0) >= number } ?? ends.count
            previous[index] = place > 0 ? ends[place - 1] : nil
            if place < ends.count { ends[place] = index } else { ends.append(index) }
        }
        var result: [Int] = []
        var next = ends.last
        while let index = next {
            result.append(index)
            next = previous[index]
        }
        return result.reversed()
    }

    // MARK: Rows

    nonisolated(nonsending) private func read(
        _ owner: Value, _ parent: Value?, _ connection: PostgresConnection
    ) async throws -> [Old] {
        let places = [ElementColumn.id, ElementColumn.rank] + columns
        var condition = "\(name(ElementColumn.owner)) = $1"
        var parameters = [try PostgresParameter(owner, as: type.keyType)]
        if let parent, let parentColumn = item.parentColumn {
            condition += " AND \(name(parentColumn)) = $2"
            parameters.append(try PostgresParameter(parent, as: .objectId))
        }
        let found = try await connection.query(
            """
            SELECT \(places.map(name).joined(separator: ", ")) FROM \(table)
            WHERE \(condition) ORDER BY \(name(ElementColumn.rank)), \(name(ElementColumn.id))
            """, parameters)
        return try found.map { row in
            var values: [Int: Value] = [:]
            for (place, column) in columns.enumerated() {
                values[column] = try row[place + 2].value(of: stored(column))
            }
            return Old(id: try row[0].value(of: .objectId), rank: try row[1].string, values: values)
        }
    }

    nonisolated(nonsending) private func update(_ element: New, _ connection: PostgresConnection) async throws {
        guard let old = element.old else { return }
        var assignments: [String] = []
        var parameters = [try PostgresParameter(old.id, as: .objectId)]
        func assign(_ column: Int, _ parameter: PostgresParameter) {
            parameters.append(parameter)
            assignments.append("\(name(column)) = $\(parameters.count)")
        }
        if element.rank != old.rank { assign(ElementColumn.rank, .text(element.rank)) }
        let values = element.contents.values
        let hidden = try await HiddenLinks(item: item, schema: schema)
            .kept(old: { old.values[$0] }, new: { values[$0] }, connection)
        for column in columns where !hidden.contains(column) {
            guard let value = values[column], value != old.values[column] else { continue }
            assign(column, try PostgresParameter(value, as: stored(column)))
        }
        guard !assignments.isEmpty else { return }
        try await connection.query(
            "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(name(ElementColumn.id)) = $1",
            parameters
        )
    }

    nonisolated(nonsending) private func insert(
        _ new: [New], _ owner: Value, _ parent: Value?, _ connection: PostgresConnection
    ) async throws {
        guard let first = new.first else { return }
        var names = [name(ElementColumn.owner)]
        var values = ["$1"]
        var lists: [String] = []
        var parameters = [try PostgresParameter(owner, as: type.keyType)]
        if let parent, let parentColumn = item.parentColumn {
            names.append(name(parentColumn))
            values.append("$2")
            parameters.append(try PostgresParameter(parent, as: .objectId))
        }
        func add(_ column: Int, _ parameter: PostgresParameter) {
            parameters.append(parameter)
            names.append(name(column))
            values.append("n.c\(column)")
            lists.append("$\(parameters.count)")
        }
        add(ElementColumn.id, try PostgresParameter(list: new.map(\.id), of: .objectId))
        add(ElementColumn.rank, .textArray(new.map(\.rank)))
        for column in columns {
            let contents = new.map { $0.contents.values[column] ?? .null }
            add(column, try PostgresParameter(list: contents, of: stored(column)))
        }
        let places = [ElementColumn.id, ElementColumn.rank] + columns
        let (sql, all) = (
            """
            INSERT INTO \(table) (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM unnest(\(lists.joined(separator: ", ")))
            AS n (\(places.map { "c\($0)" }.joined(separator: ", ")))
            """, parameters
        )
        try await located(first) { try await connection.query(sql, all) }
    }

    /// Adds to the database's refusals which element they are about.
    nonisolated(nonsending) private func located(
        _ element: New, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as PostgresError where error.isRefusal {
            var failure = RequestFailure(error)
            if error.code == .foreignKeyViolation {
                failure.wording = Wording("A link points to a resource that doesn't exist.")
                failure.hintWording = Wording("Send the id of one that exists.")
            }
            let column = columns.first { column in
                error.columnName == item.columns[column].sqlName
                    || item.columns[column].linkTarget != nil && item.foreignKeyName(column) == error.constraintName
            }
            let place = column.flatMap { element.contents.pointers[$0] } ?? element.pointer
            failure.source = .pointer(place.description)
            throw failure
        }
    }
}
