internal import Foundation
internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQL

/// Turns arbitrated writes into statements: neighbours of one shape become one statement for many rows.
struct WriteCompiler {
    private(set) var statements: [PostgresStatement] = []
    /// Where each statement comes from, if it's about a single write.
    private(set) var sources: [Source?] = []

    /// The object that a statement writes, and the position of the instruction that wants it.
    struct Source {
        let reference: ObjectReference
        let instruction: Int
    }

    private let layout: StoreLayout
    /// What is in the trash at this point.
    private var trashed: Set<ObjectReference>
    private let joins: Bool

    init(layout: StoreLayout, trashed: Set<ObjectReference>, joins: Bool) {
        self.layout = layout
        self.trashed = trashed
        self.joins = joins
    }

    mutating func append(_ statement: PostgresStatement, from source: Source? = nil) {
        statements.append(statement)
        sources.append(source)
    }

    /// What neighbours must have in common to share a statement.
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

    /// Appends one changeset's writes.
    mutating func append(
        _ arbitration: Arbitration, stamp: Stamp, client: ClientID, number: Int64, user: String
    ) throws {
        let trashGroup = UUID()
        var run: [RowWrite] = []
        var source: Source?
        var runShape: Shape?
        var keys: Set<Value> = []
        func flush(_ compiler: inout WriteCompiler) throws {
            guard let shape = runShape, !run.isEmpty else { return }
            let item = try compiler.layout.layout(shape.classIndex)
            let origin = compiler.origin(shape, item, stamp: stamp, client: client, number: number)
            try compiler.appendRun(
                run, shape, item, origin, user: user, trashGroup: trashGroup, from: run.count == 1 ? source : nil)
            run = []
            keys = []
        }
        for (write, instruction) in zip(arbitration.writes, arbitration.positions) {
            let shape = shape(of: write)
            if shape != runShape || !joins || keys.contains(write.reference.key) { try flush(&self) }
            runShape = shape
            run.append(write)
            source = Source(reference: write.reference, instruction: instruction)
            keys.insert(write.reference.key)
        }
        try flush(&self)
    }

    /// The setting that the triggers read; see ``TriggerGenerator``.
    private func origin(
        _ shape: Shape, _ item: ClassLayout, stamp: Stamp, client: ClientID, number: Int64
    ) -> PostgresParameter {
        func list(_ positions: some Sequence<Int>) -> String {
            "{\(positions.map { String(item.columnIDs[$0]) }.joined(separator: ","))}"
        }
        let defaults: String
        var additions = "{}"
        switch shape {
        case .insert(_, let columns), .revive(_, let columns): defaults = list(columns.sorted())
        case .update(_, _, let columns, let added):
            defaults = list(columns)
            additions = list(added)
        case .erase: defaults = "{}"
        }
        return .text("\(stamp.microseconds) \(client.rawValue) \(number) \(item.id) \(defaults) \(additions)")
    }

    /// Sets the setting within the statement whose rows it is about, before its triggers fire: a statement of its own would
    /// cost as much as a row.
    private func setsOrigin(_ parameters: inout [PostgresParameter], _ origin: PostgresParameter) -> String {
        parameters.append(origin)
        return "set_config('tombolo.origin', $\(parameters.count), true)"
    }

    private mutating func appendRun(
        _ run: [RowWrite], _ shape: Shape, _ item: ClassLayout, _ origin: PostgresParameter, user: String,
        trashGroup: UUID, from source: Source?
    ) throws {
        switch shape {
        case .insert: append(try insert(run, item, origin), from: source)
        case .revive:
            // The object starts anew, with empty lists.
            for index in layout.schema.elementClassIndexes(of: item.classIndex) {
                guard let element = layout.classes[index] else { continue }
                var parameters = [try keys(run, item)]
                let setting = setsOrigin(&parameters, origin)
                append(
                    PostgresStatement(
                        "DELETE FROM \(element.table) AS t USING \(setting) AS o "
                            + "WHERE t.\(element.names[ElementColumn.owner]) = ANY ($1)", parameters))
            }
            append(try revive(run, item, origin), from: source)
        case .update(_, let columns, _, _): append(try update(run, columns, item, origin), from: source)
        case .erase:
            append(try erase(run, item, origin, user: user, trashGroup: trashGroup), from: source)
        }
    }

    private func keys(_ run: [RowWrite], _ item: ClassLayout) throws -> PostgresParameter {
        try PostgresParameter(list: run.map(\.reference.key), of: item.keyType)
    }

    private func castType(_ type: PropertyType) -> String { SQLDialect.postgresql.castType(of: type) }

    private func insert(
        _ run: [RowWrite], _ item: ClassLayout, _ origin: PostgresParameter
    ) throws -> PostgresStatement {
        let rows = run.compactMap { write -> Row? in if case .insert(_, let row, _) = write { row } else { nil } }
        let head = "INSERT INTO \(item.table) (\(item.names.joined(separator: ", ")))"
        if rows.count == 1 {
            var parameters = try zip(rows[0].values, item.storedTypes).map { try PostgresParameter($0, as: $1) }
            let values = item.storedTypes.enumerated().map { "$\($0 + 1)::\(castType($1))" }
            let setting = setsOrigin(&parameters, origin)
            return PostgresStatement("\(head) SELECT \(values.joined(separator: ", ")) FROM \(setting)", parameters)
        }
        var parameters = try item.storedTypes.enumerated().map { column, type in
            try PostgresParameter(list: rows.map { $0[column] }, of: type)
        }
        let arrays = item.storedTypes.enumerated().map { "$\($0 + 1)::\(castType($1))[]" }.joined(separator: ", ")
        let setting = setsOrigin(&parameters, origin)
        return PostgresStatement("\(head) SELECT r.* FROM \(setting), unnest(\(arrays)) AS r", parameters)
    }

    /// Takes over rows that are in the trash, which the transaction has locked.
    private func revive(
        _ run: [RowWrite], _ item: ClassLayout, _ origin: PostgresParameter
    ) throws -> PostgresStatement {
        var statement = try insert(run, item, origin)
        let columns = item.names.indices.filter { $0 != item.keyIndex }.map {
            "\(item.names[$0]) = excluded.\(item.names[$0])"
        }
        let cleared = ["trashed_at = NULL", "trashed_by = NULL", "trash_group = NULL"]
        statement.sql +=
            " ON CONFLICT (\(item.key)) DO UPDATE SET \((columns + cleared).joined(separator: ", "))"
        return statement
    }

    private func update(
        _ run: [RowWrite], _ columns: [Int], _ item: ClassLayout, _ origin: PostgresParameter
    ) throws -> PostgresStatement {
        func values(_ position: Int) -> [Value] {
            run.compactMap { if case .update(_, let columns) = $0 { columns[position].value } else { nil } }
        }
        if run.count == 1 {
            let list = columns.enumerated().map { "\(item.names[$1]) = $\($0 + 2)" }.joined(separator: ", ")
            var parameters = [try PostgresParameter(run[0].reference.key, as: item.keyType)]
            for (position, column) in columns.enumerated() {
                parameters += try values(position).map { try PostgresParameter($0, as: item.storedTypes[column]) }
            }
            let setting = setsOrigin(&parameters, origin)
            return PostgresStatement(
                "UPDATE \(item.table) AS t SET \(list) FROM \(setting) AS o WHERE t.\(item.key) = $1", parameters)
        }
        let list = columns.enumerated().map { "\(item.names[$1]) = v.c\($0)" }.joined(separator: ", ")
        let arrays = columns.enumerated().map { "$\($0 + 2)::\(castType(item.storedTypes[$1]))[]" }
        let names = columns.indices.map { "c\($0)" }
        var parameters =
            try [keys(run, item)]
            + columns.enumerated().map { position, column in
                try PostgresParameter(list: values(position), of: item.storedTypes[column])
            }
        let setting = setsOrigin(&parameters, origin)
        return PostgresStatement(
            "UPDATE \(item.table) AS t SET \(list) "
                + "FROM \(setting) AS o, unnest(\((["$1::\(castType(item.keyType))[]"] + arrays).joined(separator: ", "))) "
                + "AS v (\((["key"] + names).joined(separator: ", "))) WHERE t.\(item.key) = v.key", parameters)
    }

    private func erase(
        _ run: [RowWrite], _ item: ClassLayout, _ origin: PostgresParameter, user: String, trashGroup: UUID
    ) throws -> PostgresStatement {
        var parameters = [try keys(run, item)]
        guard item.item.isTrashable else {
            let setting = setsOrigin(&parameters, origin)
            return PostgresStatement(
                "DELETE FROM \(item.table) AS t USING \(setting) AS o WHERE t.\(item.key) = ANY ($1)", parameters)
        }
        parameters += [.text(user), .uuid(trashGroup)]
        let setting = setsOrigin(&parameters, origin)
        return PostgresStatement(
            "UPDATE \(item.table) AS t SET trashed_at = clock_timestamp(), trashed_by = $2, trash_group = $3 "
                + "FROM \(setting) AS o WHERE t.\(item.key) = ANY ($1) AND t.trashed_at IS NULL", parameters)
    }
}
