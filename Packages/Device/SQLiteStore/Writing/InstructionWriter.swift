package import TomboloChangesets
internal import TomboloModel

/// Applies instructions to the class tables: local writes as they happen, and queued changesets on top of the server's
/// rows. Keeps the server's row beneath every object that an instruction touches. Used in a write transaction.
///
/// On a device, instructions do as much as they can. Setting a field of a missing object changes nothing. Creating an
/// existing object sets its fields, except those that come from defaults.
package final class InstructionWriter {
    private let connection: SQLiteConnection
    private let layout: FileLayout
    /// Whether rows are kept beneath, which is the case in synced files.
    private let isSynced: Bool
    private let recorder: ChangeRecorder
    private let lists: ListChanges
    private var shapes: [Shape: SQLiteStatement] = [:]

    private struct Shape: Hashable {
        let classIndex: Int
        let columns: [Int]
        /// For a create, the columns to set if the row exists. Nil for an update.
        let updating: [Int]?
    }

    /// The maximum number of statements kept for different sets of columns.
    private static let maximumShapeCount = 128

    package init(_ file: StoreFile) {
        connection = file.connection
        layout = file.layout
        isSynced = file.isSynced
        recorder = file.recorder
        lists = ListChanges(file)
    }

    package func perform(_ instruction: Instruction) throws {
        let reference = instruction.reference
        let table = layout.tables[reference.classIndex]
        if isSynced { try run(table.capture, reference.key) }
        switch instruction {
        case .create(_, let fields):
            try create(reference.key, fields, table)
            try lists.noteElement(reference.key, table)
        case .set(_, let fields):
            try set(reference.key, fields, table)
            try lists.noteElement(reference.key, table)
        case .add(_, let column, let amount): try add(amount, column, reference.key, table)
        case .erase:
            try lists.noteElement(reference.key, table)
            try lists.noteReferences(to: reference.key, table)
            try erase(reference.key, table)
        }
    }

    private func create(_ key: Value, _ fields: [FieldWrite], _ table: TableLayout) throws {
        let keyColumn = table.schema.primaryKeyIndex
        let fields = keyColumn == nil ? fields : fields.filter { $0.column != keyColumn }
        let columns = (keyColumn.map { [$0] } ?? []) + fields.map(\.column)
        let updating = fields.filter { !$0.isDefault }.map(\.column)
        let statement = try statement(
            Shape(classIndex: table.classIndex, columns: columns, updating: updating), table)
        var position = 1
        if keyColumn != nil {
            statement.bind(key, at: position)
            position += 1
        }
        for field in fields {
            statement.bind(field.value, at: position)
            position += 1
        }
        if keyColumn == nil { statement.bind(key, at: position) }
        recorder.columns = ColumnSet(updating)
        try statement.run()
    }

    private func set(_ key: Value, _ fields: [FieldWrite], _ table: TableLayout) throws {
        let keyColumn = table.schema.primaryKeyIndex
        let fields = fields.filter { $0.column != keyColumn }
        guard !fields.isEmpty else { return }
        let statement = try statement(
            Shape(classIndex: table.classIndex, columns: fields.map(\.column), updating: nil), table)
        for (index, field) in fields.enumerated() { statement.bind(field.value, at: index + 1) }
        statement.bind(key, at: fields.count + 1)
        recorder.columns = ColumnSet(fields.lazy.map(\.column))
        try statement.run()
    }

    /// Leaves the value unchanged if the sum exceeds 64 bits: SQLite would turn it into a floating-point number, and
    /// the server refuses it.
    private func add(_ amount: Int64, _ column: Int, _ key: Value, _ table: TableLayout) throws {
        let name = table.columnNames[column]
        let select = try connection.statement("SELECT \(name) FROM \(table.table) WHERE \(table.key) = ?")
        select.bind(key, at: 1)
        let found = try select.step()
        let current = found ? select.integer(at: 0) : 0
        select.reset()
        let sum = current.addingReportingOverflow(amount)
        guard found, !sum.overflow else { return }
        try set(key, [FieldWrite(column: column, value: .int(sum.partialValue))], table)
    }

    /// Deletes the row and the elements of its lists. Links to it then read as nil. A local file has no server to clean
    /// up, so there the links are set to nil and list elements that point to the object are deleted.
    private func erase(_ key: Value, _ table: TableLayout) throws {
        for index in table.elementClasses {
            let elements = layout.tables[index]
            if isSynced { try run(elements.captureByOwner, key) }
            try run(elements.deleteByOwner, key)
        }
        try run(table.deleteByKey, key)
        guard !isSynced, table.schema.primaryKeyIndex != nil else { return }
        for (classIndex, column) in layout.links[table.classIndex] {
            let other = layout.tables[classIndex]
            let name = other.columnNames[column]
            recorder.columns = [column]
            if other.schema.columns[column].isOptional {
                try run("UPDATE \(other.table) SET \(name) = NULL WHERE \(name) = ?", key)
            } else {
                try run("DELETE FROM \(other.table) WHERE \(name) = ?", key)
            }
        }
    }

    private func run(_ sql: String, _ key: Value) throws {
        let statement = try connection.statement(sql)
        statement.bind(key, at: 1)
        try statement.run()
    }

    private func statement(_ shape: Shape, _ table: TableLayout) throws -> SQLiteStatement {
        if let known = shapes[shape] { return known }
        if shapes.count >= Self.maximumShapeCount { shapes.removeAll() }
        let sql: String
        if let updating = shape.updating {
            sql =
                table.schema.primaryKeyIndex == nil
                ? table.insert(shape.columns) : table.upsert(shape.columns, updating: updating)
        } else {
            sql = table.update(shape.columns)
        }
        let statement = try connection.statement(sql)
        shapes[shape] = statement
        return statement
    }
}
