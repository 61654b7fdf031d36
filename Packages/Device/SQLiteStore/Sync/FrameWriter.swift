internal import TomboloModel
internal import TomboloSyncProtocol

/// Writes a batch's frames into the class tables, binding values directly from the packed columns. Used in a write
/// transaction.
final class FrameWriter {
    private let connection: SQLiteConnection
    private let layout: FileLayout
    private let recorder: ChangeRecorder
    private let lists: ListChanges

    init(_ file: StoreFile) {
        connection = file.connection
        layout = file.layout
        recorder = file.recorder
        lists = ListChanges(file)
    }

    /// - Parameter shown: by block, the rows that don't need to be written.
    /// - Returns: the number of objects and elements that the frame names.
    func write(_ frame: BatchFrame, except shown: [[Bool]?]? = nil) throws -> Int {
        var count = 0
        for removal in frame.removals {
            count += removal.keys.count
            let table = layout.tables[removal.classIndex]
            let statements = try table.elementClasses.map {
                try connection.statement(layout.tables[$0].deleteByOwner)
            }
            let delete = try connection.statement(table.deleteByKey)
            for key in removal.keys {
                try lists.noteElement(key, table)
                try lists.noteReferences(to: key, table)
                for statement in statements + [delete] {
                    statement.bind(key, at: 1)
                    try statement.run()
                }
            }
        }
        for (index, block) in frame.blocks.enumerated() {
            count += block.rowCount
            let rows = shown?[index].map { shown in (0..<block.rowCount).filter { !shown[$0] } }
            try write(block, rows ?? Array(0..<block.rowCount))
        }
        return count
    }

    private func write(_ block: RowBlock, _ rows: [Int]) throws {
        if rows.isEmpty { return }
        let table = layout.tables[block.classIndex]
        guard block.columns.first == table.schema.primaryKeyIndex, block.columns.count == block.vectors.count else {
            throw SQLiteStoreError(
                .invalidInput, "A block of \(table.schema.name) does not begin with the primary key.")
        }
        let values = Array(block.columns.dropFirst())
        if !block.isWhole, values.isEmpty { return }
        // An insert takes the key first; an update takes it last.
        let positions =
            block.isWhole ? Array(1...block.columns.count) : [block.columns.count] + Array(1..<block.columns.count)
        let forms = block.columns.map { ByteForm(table.storedTypes[$0]) }
        recorder.columns = ColumnSet(values)
        let element = try lists.element(of: table)
        try withPackedColumns(block.vectors[...]) { columns in
            func bind(_ row: Int, to statement: SQLiteStatement, after offset: Int = 0) {
                for (index, column) in columns.enumerated() {
                    column.bind(row, as: forms[index], to: statement, at: offset + positions[index])
                }
            }
            func note(_ row: Int) throws {
                guard let element else { return }
                columns[0].bind(row, as: forms[0], to: element.select, at: 1)
                try lists.note(element)
            }

            var next = 0
            let count = Self.rowsTogether(columnCount: columns.count)
            if block.isWhole, rows.count >= count {
                let statement = try connection.statement(table.insertOrFail(block.columns, rowCount: count))
                // Insert several rows at a time, until one of them already exists.
                while next + count <= rows.count {
                    for place in 0..<count { bind(rows[next + place], to: statement, after: place * columns.count) }
                    guard try statement.insert() else { break }
                    for place in 0..<count { try note(rows[next + place]) }
                    next += count
                }
                statement.clear()
            }
            guard next < rows.count else { return }
            let statement = try connection.statement(
                block.isWhole ? table.upsert(block.columns, updating: values) : table.update(values))
            for row in rows[next...] {
                bind(row, to: statement)
                try statement.run()
                try note(row)
            }
            statement.clear()
        }
        element?.select.clear()
    }

    /// How many new rows one statement inserts. For each statement SQLite opens the table and its indexes again, which
    /// costs as much as a row of a few columns.
    private static func rowsTogether(columnCount: Int) -> Int {
        max(1, min(maximumRowsTogether, maximumParameterCount / columnCount))
    }

    private static let maximumRowsTogether = 64
    /// SQLite's limit before version 3.32. Later versions allow more. <https://www.sqlite.org/limits.html>
    private static let maximumParameterCount = 999

    /// Calls `body` with pointers into every vector.
    private func withPackedColumns(
        _ vectors: ArraySlice<ColumnVector>, _ collected: [PackedColumn] = [], _ body: ([PackedColumn]) throws -> Void
    ) throws {
        guard let vector = vectors.first else { return try body(collected) }
        let rest = vectors.dropFirst()
        try vector.nulls.withUnsafeBufferPointer { nulls in
            switch vector.storage {
            case .integers(let values):
                try values.withUnsafeBufferPointer {
                    try withPackedColumns(rest, collected + [PackedColumn(values: .integers($0), nulls: nulls)], body)
                }
            case .doubles(let values):
                try values.withUnsafeBufferPointer {
                    try withPackedColumns(rest, collected + [PackedColumn(values: .doubles($0), nulls: nulls)], body)
                }
            case .bytes(let ends, let heap):
                try ends.withUnsafeBufferPointer { ends in
                    try heap.withUnsafeBufferPointer { heap in
                        try withPackedColumns(
                            rest, collected + [PackedColumn(values: .bytes(ends: ends, heap: heap), nulls: nulls)], body
                        )
                    }
                }
            }
        }
    }
}

/// How a value's bytes are bound in SQLite.
private enum ByteForm {
    case text, blob, decimal

    init(_ type: PropertyType) {
        self =
            switch type {
            case .string: .text
            case .decimal128: .decimal
            default: .blob
            }
    }
}

/// A column vector's memory, valid during a call.
private struct PackedColumn {
    enum Values {
        case integers(UnsafeBufferPointer<Int64>)
        case doubles(UnsafeBufferPointer<Double>)
        case bytes(ends: UnsafeBufferPointer<UInt32>, heap: UnsafeBufferPointer<UInt8>)
    }

    let values: Values
    let nulls: UnsafeBufferPointer<UInt8>

    func bind(_ row: Int, as form: ByteForm, to statement: SQLiteStatement, at position: Int) {
        let byte = row >> 3
        if byte < nulls.count, nulls[byte] & (1 << UInt8(row & 7)) != 0 {
            statement.bindNull(at: position)
            return
        }
        switch values {
        case .integers(let values): statement.bind(values[row], at: position)
        case .doubles(let values): statement.bind(values[row], at: position)
        case .bytes(let ends, let heap):
            let start = row == 0 ? 0 : Int(ends[row - 1])
            let bytes = heap.baseAddress.map { $0 + start }
            let count = Int(ends[row]) - start
            switch form {
            case .text: statement.bindText(bytes, count: count, copying: false, at: position)
            case .blob: statement.bindBlob(bytes, count: count, copying: false, at: position)
            case .decimal:
                let number = Decimal128(bid: UnsafeRawBufferPointer(start: bytes, count: count))
                statement.bind(number.map(Value.decimal) ?? .null, at: position)
            }
        }
    }
}
