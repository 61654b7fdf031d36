internal import Foundation
internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQL

/// Turns arbitrated writes into statements. Adjacent writes of the same shape become one multi-row statement. New
/// rows from adjacent changesets of one client share a statement too, because long queues consist mostly of small
/// changesets.
struct WriteCompiler {
    /// The most rows in a statement that several changesets share, and the most rows that each of them may have on
    /// average. With more, it is better if each changeset's rows share ``BulkRow``s than if changesets share a
    /// statement that has to say which row belongs to which.
    static let maximumSharedRows = (count: 1_000, average: BulkRow.keyLimit)

    private(set) var statements: [PostgresStatement] = []
    /// The source of each statement that has a single write.
    private(set) var sources: [Source?] = []

    /// The object that a statement writes, and the position of the instruction behind it.
    struct Source {
        let reference: ObjectReference
        let instruction: Int
    }

    private let layout: StoreLayout
    /// The objects in the trash at this point.
    private var trashed: Set<ObjectReference>
    private let joins: Bool
    /// The writes of the next statement.
    private var run: Run?

    init(layout: StoreLayout, trashed: Set<ObjectReference>, joins: Bool) {
        self.layout = layout
        self.trashed = trashed
        self.joins = joins
    }

    mutating func append(_ statement: PostgresStatement, from source: Source? = nil) {
        statements.append(statement)
        sources.append(source)
    }

    /// What adjacent writes must have in common to share a statement.
    private enum Shape: Hashable {
        case insert(Int, defaults: Set<Int>)
        case revive(Int, defaults: Set<Int>)
        case update(Int, columns: [Int], defaults: [Int], additions: [Int])
        case erase(Int)

        var classIndex: Int {
            switch self {
            case .insert(let index, _), .revive(let index, _), .update(let index, _, _, _), .erase(let index): index
            }
        }
    }

    private mutating func shape(of write: RowWrite) -> Shape {
        let index = write.reference.classIndex
        switch write {
        case .insert(let reference, _, let defaults):
            return trashed.remove(reference) != nil
                ? .revive(index, defaults: defaults) : .insert(index, defaults: defaults)
        case .update(_, let columns):
            return .update(
                index, columns: columns.map(\.column),
                defaults: columns.filter { $0.mark == .byDefault }.map(\.column),
                additions: columns.filter { if case .add = $0.mark { true } else { false } }.map(\.column))
        case .erase(let reference):
            if layout.schema[index].isTrashable { trashed.insert(reference) }
            return .erase(index)
        }
    }

    /// A changeset whose writes are appended.
    struct Origin {
        let stamp: Stamp
        let client: ClientID
        let number: Int64
        let user: String
    }

    /// Writes that share a statement. A class, because it's accessed for every write.
    private final class Run {
        let shape: Shape
        let trashGroup: UUID
        private(set) var writes: [RowWrite] = []
        /// The keys of updates. Other runs can't have a key twice: an object that was just created exists, and one
        /// that was just erased is gone.
        private var keys: Set<Value> = []
        private(set) var source: Source?
        /// The changesets that the writes come from, all of one client, and the number of writes of each.
        private(set) var origins: [Origin] = []
        private(set) var counts: [Int] = []

        init(shape: Shape, trashGroup: UUID) {
            self.shape = shape
            self.trashGroup = trashGroup
        }

        func takes(_ write: RowWrite) -> Bool {
            if case .update = write { !keys.contains(write.reference.key) } else { true }
        }

        func append(_ write: RowWrite, from origin: Origin, instruction: Int) {
            if origins.last?.number != origin.number {
                origins.append(origin)
                counts.append(0)
            }
            writes.append(write)
            counts[counts.count - 1] += 1
            if case .update = write { keys.insert(write.reference.key) }
            source = Source(reference: write.reference, instruction: instruction)
        }
    }

    /// Appends one changeset's writes. Call ``finish()`` after the last changeset.
    mutating func append(_ arbitration: Arbitration, from origin: Origin) throws {
        let trashGroup = UUID()
        for (write, instruction) in zip(arbitration.writes, arbitration.positions) {
            let shape = shape(of: write)
            let run: Run
            if let known = self.run, canGoOn(known, shape, write, origin) {
                run = known
            } else {
                try finish()
                run = Run(shape: shape, trashGroup: trashGroup)
                self.run = run
            }
            run.append(write, from: origin, instruction: instruction)
        }
    }

    /// Whether the statement in progress can take this write as well.
    private func canGoOn(_ run: Run, _ shape: Shape, _ write: RowWrite, _ origin: Origin) -> Bool {
        guard joins, run.shape == shape, run.takes(write), let last = run.origins.last, last.client == origin.client
        else { return false }
        if run.origins.count == 1, last.number == origin.number { return true }
        guard case .insert = shape, run.writes.count < Self.maximumSharedRows.count,
            run.writes.count <= Self.maximumSharedRows.average * run.origins.count
        else { return false }
        return KeyText.isSame(layout.classes[shape.classIndex]?.keyType)
    }

    /// Completes the last statement.
    mutating func finish() throws {
        guard let run else { return }
        self.run = nil
        try append(run, try layout.layout(run.shape.classIndex))
    }

    /// The setting that the triggers read; see ``TriggerGenerator``. With several changesets, it describes the last
    /// one, and has the stamps and numbers of all.
    private func origin(_ run: Run, _ item: ClassLayout) -> PostgresParameter {
        func list(_ positions: some Sequence<Int>) -> String { array(positions.map { Int64(item.columnIDs[$0]) }) }
        func array(_ numbers: [Int64]) -> String { "{\(numbers.map(String.init).joined(separator: ","))}" }
        let defaults: String
        var additions = "{}"
        switch run.shape {
        case .insert(_, let columns), .revive(_, let columns): defaults = list(columns.sorted())
        case .update(_, _, let columns, let added):
            defaults = list(columns)
            additions = list(added)
        case .erase: defaults = "{}"
        }
        let last = run.origins[run.origins.count - 1]
        var parts = [
            String(last.stamp.microseconds), String(last.client.rawValue), String(last.number), String(item.id),
            defaults, additions,
        ]
        if run.origins.count > 1 {
            parts += [array(run.origins.map(\.stamp.microseconds)), array(run.origins.map(\.number))]
        }
        return .text(parts.joined(separator: " "))
    }

    /// Tells the triggers which of several changesets each key is from, counted from 1, as a JSON object.
    private func places(_ run: Run) -> PostgresParameter {
        var json: [UInt8] = []
        json.reserveCapacity(run.writes.count * 32)
        var key: [UInt8] = []
        var next = 0
        for (place, count) in run.counts.enumerated() {
            let number = Array(":\(place + 1)".utf8)
            for write in run.writes[next..<next + count] {
                json.append(json.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
                key.removeAll(keepingCapacity: true)
                _ = KeyText.append(write.reference.key, to: &key)
                EscapedJSON.append(key, to: &json)
                json.append(contentsOf: number)
            }
            next += count
        }
        json.append(UInt8(ascii: "}"))
        return .text(utf8: json)
    }

    /// Applies the settings within the statement whose rows they describe, before its triggers fire. A separate
    /// statement would cost as much as a row.
    private func settings(_ run: Run, _ item: ClassLayout, _ parameters: inout [PostgresParameter]) -> String {
        parameters.append(origin(run, item))
        let origin = "set_config('tombolo.origin', $\(parameters.count), true)"
        guard run.origins.count > 1 else { return origin }
        parameters.append(places(run))
        return "set_config('tombolo.origin_places', $\(parameters.count), true) AS p, \(origin)"
    }

    private mutating func append(_ run: Run, _ item: ClassLayout) throws {
        let source = run.writes.count == 1 ? run.source : nil
        switch run.shape {
        case .insert: append(try insert(run, item), from: source)
        case .revive:
            // The object starts over, with empty lists.
            for index in layout.schema.elementClassIndexes(of: item.classIndex) {
                guard let element = layout.classes[index] else { continue }
                var parameters = [try keys(run, item)]
                let settings = settings(run, item, &parameters)
                append(
                    PostgresStatement(
                        "DELETE FROM \(element.table) AS t USING \(settings) AS o "
                            + "WHERE t.\(element.names[ElementColumn.owner]) = ANY ($1)", parameters))
            }
            append(try revive(run, item), from: source)
        case .update(_, let columns, _, _): append(try update(run, columns, item), from: source)
        case .erase: append(try erase(run, item), from: source)
        }
    }

    private func keys(_ run: Run, _ item: ClassLayout) throws -> PostgresParameter {
        try PostgresParameter(run.writes, of: item.keyType) { $0.reference.key }
    }

    private func castType(_ type: PropertyType) -> String { SQLDialect.postgresql.castType(of: type) }

    private func insert(_ run: Run, _ item: ClassLayout) throws -> PostgresStatement {
        let rows = run.writes.compactMap { write -> Row? in
            if case .insert(_, let row, _) = write { row } else { nil }
        }
        let head = "INSERT INTO \(item.table) (\(item.names.joined(separator: ", ")))"
        if rows.count == 1 {
            var parameters = try zip(rows[0].values, item.storedTypes).map { try PostgresParameter($0, as: $1) }
            let values = item.storedTypes.enumerated().map { "$\($0 + 1)::\(castType($1))" }
            let settings = settings(run, item, &parameters)
            return PostgresStatement("\(head) SELECT \(values.joined(separator: ", ")) FROM \(settings)", parameters)
        }
        var parameters = try item.storedTypes.enumerated().map { column, type in
            try PostgresParameter(rows, of: type) { $0[column] }
        }
        let arrays = item.storedTypes.enumerated().map { "$\($0 + 1)::\(castType($1))[]" }.joined(separator: ", ")
        let settings = settings(run, item, &parameters)
        return PostgresStatement("\(head) SELECT r.* FROM \(settings), unnest(\(arrays)) AS r", parameters)
    }

    /// Takes over rows in the trash, which the transaction has locked.
    private func revive(_ run: Run, _ item: ClassLayout) throws -> PostgresStatement {
        var statement = try insert(run, item)
        let columns = item.names.indices.filter { $0 != item.keyIndex }.map {
            "\(item.names[$0]) = excluded.\(item.names[$0])"
        }
        let cleared = ["trashed_at = NULL", "trashed_by = NULL", "trash_group = NULL"]
        statement.sql +=
            " ON CONFLICT (\(item.key)) DO UPDATE SET \((columns + cleared).joined(separator: ", "))"
        return statement
    }

    private func update(_ run: Run, _ columns: [Int], _ item: ClassLayout) throws -> PostgresStatement {
        func values(_ position: Int) -> [Value] {
            run.writes.compactMap { if case .update(_, let columns) = $0 { columns[position].value } else { nil } }
        }
        if run.writes.count == 1 {
            let list = columns.enumerated().map { "\(item.names[$1]) = $\($0 + 2)" }.joined(separator: ", ")
            var parameters = [try PostgresParameter(run.writes[0].reference.key, as: item.keyType)]
            for (position, column) in columns.enumerated() {
                parameters += try values(position).map { try PostgresParameter($0, as: item.storedTypes[column]) }
            }
            let settings = settings(run, item, &parameters)
            return PostgresStatement(
                "UPDATE \(item.table) AS t SET \(list) FROM \(settings) AS o WHERE t.\(item.key) = $1", parameters)
        }
        let list = columns.enumerated().map { "\(item.names[$1]) = v.c\($0)" }.joined(separator: ", ")
        let arrays = columns.enumerated().map { "$\($0 + 2)::\(castType(item.storedTypes[$1]))[]" }
        let names = columns.indices.map { "c\($0)" }
        var parameters =
            try [keys(run, item)]
            + columns.enumerated().map { position, column in
                try PostgresParameter(list: values(position), of: item.storedTypes[column])
            }
        let settings = settings(run, item, &parameters)
        return PostgresStatement(
            "UPDATE \(item.table) AS t SET \(list) "
                + "FROM \(settings) AS o, unnest(\((["$1::\(castType(item.keyType))[]"] + arrays).joined(separator: ", "))) "
                + "AS v (\((["key"] + names).joined(separator: ", "))) WHERE t.\(item.key) = v.key", parameters)
    }

    private func erase(_ run: Run, _ item: ClassLayout) throws -> PostgresStatement {
        var parameters = [try keys(run, item)]
        guard item.item.isTrashable else {
            let settings = settings(run, item, &parameters)
            return PostgresStatement(
                "DELETE FROM \(item.table) AS t USING \(settings) AS o WHERE t.\(item.key) = ANY ($1)", parameters)
        }
        parameters += [.text(run.origins[0].user), .uuid(run.trashGroup)]
        let settings = settings(run, item, &parameters)
        return PostgresStatement(
            "UPDATE \(item.table) AS t SET trashed_at = clock_timestamp(), trashed_by = $2, trash_group = $3 "
                + "FROM \(settings) AS o WHERE t.\(item.key) = ANY ($1) AND t.trashed_at IS NULL", parameters)
    }
}
