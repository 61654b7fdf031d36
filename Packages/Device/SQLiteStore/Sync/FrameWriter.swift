internal import TomboloModel
internal import TomboloSyncProtocol

/// Writes a batch's frames into the class tables, binding values directly from the packed columns. Inside a write
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

    /// - Returns: the number of objects and elements that the frame named.
    func write(_ frame: BatchFrame) throws -> Int {
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
        for block in frame.blocks {
            count += block.rowCount
            try write(block)
        }
        return count
    }

    private func write(_ block: RowBlock) throws {
        let table = layout.tables[block.classIndex]
        guard block.columns.first == table.schema.primaryKeyIndex, block.columns.count == block.vectors.count else {
            throw SQLiteStoreError(
                .invalidInput, "A block of \(table.schema.name) does not begin with the primary key.")
        }
        let values = Array(block.columns.dropFirst())
        if !block.isWhole, values.isEmpty { return }
        let statement = try connection.statement(
            block.isWhole ? table.upsert(block.columns, updating: values) : table.update(values))
        // An insert takes the key first, an update takes it last.
        let positions =
            block.isWhole ? Array(1...block.columns.count) : [block.columns.count] + Array(1..<block.columns.count)
        let forms = block.columns.map { ByteForm(table.storedTypes[$0]) }
        recorder.columns = ColumnSet(values)
        let element = try lists.element(of: table)
        try withPackedColumns(block.vectors[...]) { columns in
            for row in 0..<block.rowCount {
                for (index, column) in columns.enumerated() {
                    column.bind(row, as: forms[index], to: statement, at: positions[index])
                }
                try statement.run()
                if let element {
                    columns[0].bind(row, as: forms[0], to: element.select, at: 1)
                    try lists.note(element)
                }
            }
        }
        statement.clear()
        element?.select.clear()
    }

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
