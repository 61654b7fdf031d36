internal import Foundation
internal import GRDBSQLite
package import TomboloModel

/// Rows of one class as SQLite returned them. Instead of a Swift value per field, the page has fixed-size cells, row by
/// row, and a heap for the bytes of text and data. Strings and other values are created when they're read.
///
/// Confined like its connection.
package final class RowPage {
    package let columnCount: Int
    package let capacity: Int
    package private(set) var rowCount = 0
    /// By row.
    package let rowids: UnsafeMutablePointer<Int64>
    /// `columnCount` cells for each row.
    package let cells: UnsafeMutablePointer<Cell>
    /// Lets the owner check whether the rows are current.
    package var stamp: UInt64 = 0
    /// Directly after the cells at first; in separate memory once the heap outgrows that.
    private var heap: UnsafeMutableRawPointer
    private var heapCapacity: Int
    private var heapCount = 0
    private let ownHeap: UnsafeMutableRawPointer

    /// The initial heap size per row in bytes.
    private static let heapPerRow = 32
    private static let smallestHeap = 64

    package init(columnCount: Int, capacity: Int) {
        self.columnCount = columnCount
        self.capacity = capacity
        let rowBytes = capacity * MemoryLayout<Int64>.stride
        let cellBytes = columnCount * capacity * MemoryLayout<Cell>.stride
        heapCapacity = max(Self.smallestHeap, capacity * Self.heapPerRow)
        // One block: rowids, cells, heap. A cell is aligned like an Int64.
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: rowBytes + cellBytes + heapCapacity, alignment: MemoryLayout<Int64>.alignment)
        rowids = block.bindMemory(to: Int64.self, capacity: capacity)
        cells = (block + rowBytes).bindMemory(to: Cell.self, capacity: columnCount * capacity)
        ownHeap = block + rowBytes + cellBytes
        heap = ownHeap
    }

    deinit {
        if heap != ownHeap { heap.deallocate() }
        UnsafeMutableRawPointer(rowids).deallocate()
    }

    /// Empties the page. Its rows must no longer be used.
    package func removeAll() {
        rowCount = 0
        heapCount = 0
    }

    package func row(_ index: Int) -> UnsafeMutablePointer<Cell> { cells + index * columnCount }

    // MARK: Filling

    /// Steps the statement, whose columns are the rowid and then the page's columns, until the page is full.
    /// - Returns: false if the statement has reached its end.
    package func fill(from statement: SQLiteStatement, _ forms: [CellForm]) throws -> Bool {
        while rowCount < capacity {
            guard try statement.step() else { return false }
            append(statement.current, forms)
        }
        return true
    }

    /// Appends a row, whose columns are the rowid and then the page's columns.
    package func append(_ row: StatementRow, _ forms: [CellForm]) {
        let handle = row.handle
        rowids[rowCount] = sqlite3_column_int64(handle, 0)
        var cell = self.row(rowCount)
        forms.withUnsafeBufferPointer { forms in
            var column: Int32 = 1
            for form in forms {
                cell.initialize(to: read(handle, column, form))
                cell += 1
                column += 1
            }
        }
        rowCount += 1
    }

    @inline(__always)
    private func read(_ handle: OpaquePointer?, _ column: Int32, _ form: CellForm) -> Cell {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return .null }
        switch form {
        case .integer: return Cell(.integer, bits: UInt64(bitPattern: sqlite3_column_int64(handle, column)))
        case .double: return Cell(.double, bits: sqlite3_column_double(handle, column).bitPattern)
        case .text:
            // Get the pointer first, then the count: <https://www.sqlite.org/c3ref/column_blob.html>
            let start = sqlite3_column_text(handle, column)
            return store(UnsafeRawPointer(start), Int(sqlite3_column_bytes(handle, column)))
        case .blob:
            let start = sqlite3_column_blob(handle, column)
            return store(start, Int(sqlite3_column_bytes(handle, column)))
        case .objectId:
            let start = sqlite3_column_blob(handle, column)
            guard let start, sqlite3_column_bytes(handle, column) == Int32(ObjectId.byteCount) else { return .null }
            return Cell(
                .objectId, bits: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
                length: UInt32(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        }
    }

    private func store(_ start: UnsafeRawPointer?, _ count: Int) -> Cell {
        let place = heapCount
        if heapCount + count > heapCapacity { growHeap(by: count) }
        if let start, count > 0 { (heap + place).copyMemory(from: start, byteCount: count) }
        heapCount += count
        return Cell(.bytes, bits: UInt64(place), length: UInt32(count))
    }

    private func growHeap(by count: Int) {
        let capacity = max(Self.smallestHeap, heapCapacity * 2, heapCount + count)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        grown.copyMemory(from: heap, byteCount: heapCount)
        if heap != ownHeap { heap.deallocate() }
        heap = grown
        heapCapacity = capacity
    }

    /// A page with one row of these values.
    package convenience init(_ values: [Value], rowid: Int64) {
        self.init(columnCount: values.count, capacity: 1)
        rowCount = 1
        rowids[0] = rowid
        for (column, value) in values.enumerated() { (cells + column).initialize(to: cell(value)) }
    }

    /// A cell of this page with a value.
    package func cell(_ value: Value) -> Cell {
        switch value {
        case .null: return .null
        case .bool(let flag): return Cell(.integer, bits: flag ? 1 : 0)
        case .int(let number), .date(let number): return Cell(.integer, bits: UInt64(bitPattern: number))
        case .double(let number): return Cell(.double, bits: number.bitPattern)
        case .string(var text):
            return text.withUTF8 { store(UnsafeRawPointer($0.baseAddress), $0.count) }
        case .data(let data): return data.withUnsafeBytes { store($0.baseAddress, $0.count) }
        case .objectId(let id): return Cell(.objectId, bits: id.high, length: id.low)
        case .uuid(let id): return withUnsafeBytes(of: id.uuid) { store($0.baseAddress, $0.count) }
        case .decimal(let number): return cell(.string(number.description))
        }
    }

    // MARK: Reading

    /// The bytes of one of this page's cells. They're valid as long as the page.
    package func bytes(_ cell: Cell) -> UnsafeRawBufferPointer {
        guard cell.length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: heap + Int(cell.bits), count: Int(cell.length))
    }

    package func text(_ cell: Cell) -> String { String(decoding: bytes(cell), as: UTF8.self) }

    /// The value of one of this page's cells as a stored type. Returns `.null` for NULL and for bytes of the wrong
    /// length.
    package func value(_ cell: Cell, as type: PropertyType) -> Value {
        guard cell.kind != .null else { return .null }
        switch type {
        case .bool: return .bool(cell.bits != 0)
        case .int: return .int(Int64(bitPattern: cell.bits))
        case .date: return .date(Int64(bitPattern: cell.bits))
        case .double: return .double(Double(bitPattern: cell.bits))
        case .string: return .string(text(cell))
        case .data: return .data(Data(bytes(cell)))
        case .objectId: return .objectId(ObjectId(high: cell.bits, low: cell.length))
        case .uuid:
            let bytes = bytes(cell)
            guard bytes.count == 16 else { return .null }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .decimal128: return Decimal128(text(cell)).map(Value.decimal) ?? .null
        case .float, .link, .embedded, .array, .list, .linkingObjects: return .null
        }
    }
}
