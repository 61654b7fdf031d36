internal import TomboloModel

/// The objects with queued edits, and their lists, as they were before a batch. Restoring the server's rows and
/// replaying the edits deletes and inserts rows that represent the same objects to the app. ``settle()`` gives such
/// rows their old rowids back and records only the real differences.
struct RebasedRows {
    private struct Known {
        let rowID: Int64
        /// The columns, then for each link whether its target exists.
        let values: [Value]
    }

    private let connection: SQLiteConnection
    private let layout: FileLayout
    private let recorder: ChangeRecorder
    /// By class, then by key.
    private var rows: [[Value: Known]]

    /// With more rows than this, all are recorded as deleted and inserted.
    static let maximumCount = 4_096

    /// Nil if there are too many rows.
    init?(_ file: StoreFile) throws {
        connection = file.connection
        layout = file.layout
        recorder = file.recorder
        rows = Array(repeating: [:], count: file.layout.tables.count)
        for root in layout.tables where root.schema.owner == nil && root.schema.primaryKeyIndex != nil {
            let classes = [root.classIndex] + root.elementClasses
            guard try classes.contains(where: { try isTouched(layout.tables[$0]) }) else { continue }
            let keys = Self.touchedObjects(root, layout)
            for index in classes {
                let table = layout.tables[index]
                let key = index == root.classIndex ? table.key : table.columnNames[ElementColumn.owner]
                guard try load(table, "c.\(key) IN (\(keys))") else { return nil }
            }
        }
    }

    /// Loads only affected objects.
    init(_ file: StoreFile, _ affected: AffectedObjects) throws {
        connection = file.connection
        layout = file.layout
        recorder = file.recorder
        rows = Array(repeating: [:], count: file.layout.tables.count)
        for table in layout.tables where !affected.keys[table.classIndex].isEmpty {
            let statement = try connection.statement(
                "\(selection(table)) WHERE c.\(table.key) = ?1 "
                    + "AND EXISTS (SELECT 1 FROM \(table.beneath) AS b WHERE b.\(table.key) = ?1)")
            defer { statement.reset() }
            for key in affected.keys[table.classIndex] {
                statement.bind(key, at: 1)
                if try statement.step() { rows[table.classIndex][key] = read(statement, table) }
                statement.reset()
            }
        }
    }

    private func isTouched(_ table: TableLayout) throws -> Bool {
        try connection.integer("SELECT 1 FROM \(table.beneath) LIMIT 1") != nil
    }

    /// Selects the keys of the class's objects that were touched, either directly or through elements of their lists.
    private static func touchedObjects(_ root: TableLayout, _ layout: FileLayout) -> String {
        let parts = root.elementClasses.flatMap { index -> [String] in
            let table = layout.tables[index]
            let owner = table.columnNames[ElementColumn.owner]
            return [
                "SELECT \(owner) FROM \(table.table) WHERE \(table.key) IN (SELECT \(table.key) FROM \(table.beneath))",
                "SELECT \(owner) FROM \(table.beneath)",
            ]
        }
        return (["SELECT \(root.key) FROM \(root.beneath)"] + parts).joined(separator: " UNION ALL ")
    }

    private func links(_ table: TableLayout) -> [(column: Int, target: TableLayout)] {
        table.schema.columns.enumerated().compactMap { column, definition in
            guard table.schema.owner == nil || column != ElementColumn.owner, column != table.schema.parentColumn,
                let target = definition.linkTarget.flatMap({ layout.schema.index(of: $0) })
            else { return nil }
            return (column, layout.tables[target])
        }
    }

    private func selection(_ table: TableLayout) -> String {
        let columns = table.columnNames.map { "c.\($0)" }
        let links = links(table).map { column, target in
            "EXISTS (SELECT 1 FROM \(target.table) AS t WHERE t.\(target.key) = c.\(table.columnNames[column]))"
        }
        return "SELECT \((columns + links + ["c.rowid"]).joined(separator: ", ")) FROM \(table.table) AS c"
    }

    private func read(_ statement: SQLiteStatement, _ table: TableLayout) -> Known {
        let types = table.storedTypes + links(table).map { _ in .bool }
        return Known(rowID: statement.integer(at: types.count), values: statement.row(types).values)
    }

    /// - Returns: false if there are too many rows.
    private mutating func load(_ table: TableLayout, _ condition: String) throws -> Bool {
        let statement = try connection.statement("\(selection(table)) WHERE \(condition)")
        defer { statement.reset() }
        var count = rows.reduce(0) { $0 + $1.count }
        while try statement.step() {
            count += 1
            if count > Self.maximumCount { return false }
            let known = read(statement, table)
            rows[table.classIndex][key(known, table)] = known
        }
        return true
    }

    private func key(_ known: Known, _ table: TableLayout) -> Value {
        table.schema.primaryKeyIndex.map { known.values[$0] } ?? .int(known.rowID)
    }

    // MARK: Afterwards

    /// Call this once the batch is in the tables and the edits were replayed.
    func settle() throws {
        for table in layout.tables where !rows[table.classIndex].isEmpty { try settle(table) }
    }

    private func settle(_ table: TableLayout) throws {
        let statement = try connection.statement("\(selection(table)) WHERE c.\(table.key) = ?")
        var settled: [(rowID: Int64, columns: ColumnSet)] = []
        var moves: [(from: Int64, to: Int64)] = []
        let links = links(table)
        let lists = table.schema.owner == nil ? table.elementClasses.map { RebasedList($0, table, layout) } : []
        let elements = lists.map { elementsByOwner($0.elementClass) }
        for (key, known) in rows[table.classIndex] {
            statement.bind(key, at: 1)
            let present = try statement.step() ? read(statement, table) : nil
            statement.reset()
            guard let present else { continue }
            if present.rowID != known.rowID { moves.append((present.rowID, known.rowID)) }
            var columns = ColumnSet()
            for (index, value) in known.values.enumerated() where present.values[index] != value {
                let width = table.columnNames.count
                columns.insert(index < width ? index : links[index - width].column)
            }
            for (index, list) in lists.enumerated()
            where try !isSame(list.elementClass, of: key, elements[index][key] ?? [:]) {
                columns.insert(list.position)
            }
            settled.append((known.rowID, columns))
        }
        try move(moves, table)
        for (rowID, columns) in settled { recorder.settle(rowID, table.classIndex, differing: columns) }
    }

    private func elementsByOwner(_ classIndex: Int) -> [Value: [Value: Known]] {
        var result: [Value: [Value: Known]] = [:]
        for (key, known) in rows[classIndex] { result[known.values[ElementColumn.owner], default: [:]][key] = known }
        return result
    }

    /// Whether an object's elements are unchanged.
    private func isSame(_ classIndex: Int, of owner: Value, _ known: [Value: Known]) throws -> Bool {
        let table = layout.tables[classIndex]
        let statement = try connection.statement(
            "\(selection(table)) WHERE c.\(table.columnNames[ElementColumn.owner]) = ?")
        defer { statement.reset() }
        statement.bind(owner, at: 1)
        var count = 0
        while try statement.step() {
            count += 1
            let present = read(statement, table)
            guard known[key(present, table)]?.values == present.values else { return false }
        }
        return count == known.count
    }

    /// Changes the rowids of rows. If a new row has a needed rowid, it's moved to the end.
    private func move(_ moves: [(from: Int64, to: Int64)], _ table: TableLayout) throws {
        if moves.isEmpty { return }
        let classIndex = table.classIndex
        var evicted: [(from: Int64, to: Int64)] = []
        try recorder.withoutRecording {
            // Real rowids are positive, so negative ones are free for the intermediate step.
            for (index, move) in moves.enumerated() { try update(move.from, to: -1 - Int64(index), table) }
            for (index, move) in moves.enumerated() {
                let taken = try connection.statement("SELECT 1 FROM \(table.table) WHERE rowid = ?")
                taken.bind(move.to, at: 1)
                let isTaken = try taken.step()
                taken.reset()
                if isTaken {
                    let last = try connection.integer("SELECT max(rowid) FROM \(table.table)") ?? 0
                    try update(move.to, to: last + 1, table)
                    evicted.append((move.to, last + 1))
                }
                try update(-1 - Int64(index), to: move.to, table)
            }
        }
        for move in moves { recorder.takeBackInsertion(of: move.from, classIndex) }
        for move in evicted {
            recorder.takeBackInsertion(of: move.from, classIndex)
            recorder.noteInserted(move.to, classIndex)
        }
    }

    private func update(_ rowID: Int64, to other: Int64, _ table: TableLayout) throws {
        let statement = try connection.statement("UPDATE \(table.table) SET rowid = ? WHERE rowid = ?")
        statement.bind(other, at: 1)
        statement.bind(rowID, at: 2)
        try statement.run()
    }
}

/// A list of a class.
private struct RebasedList {
    let elementClass: Int
    /// The list's position in the root class's ``ColumnSet``.
    let position: Int

    init(_ elementClass: Int, _ root: TableLayout, _ layout: FileLayout) {
        self.elementClass = elementClass
        let property = layout.schema[elementClass].owner?.property ?? ""
        // Changes of a list inside another list's elements are recorded for the outer list.
        let list = root.schema.lists.firstIndex { property == $0.name || property.hasPrefix($0.name + ".") }
        position = root.schema.columns.count + (list ?? 0)
    }
}
