internal import Foundation
internal import GRDBSQLite
package import TomboloModel

/// A prepared statement. Bind, step, read, reset.
package final class SQLiteStatement {
    private unowned let connection: SQLiteConnection
    private(set) var handle: OpaquePointer?
    package let sql: String

    init(_ sql: String, on connection: SQLiteConnection) throws {
        self.sql = sql
        self.connection = connection
        let result = sqlite3_prepare_v2(connection.handle, sql, -1, &handle, nil)
        guard result == SQLITE_OK, handle != nil else { throw connection.error(result, sql: sql) }
    }

    deinit { finalize() }

    func finalize() {
        sqlite3_finalize(handle)
        handle = nil
    }

    /// Ends the statement's execution, so that it doesn't hold a lock. Bindings stay.
    package func reset() { sqlite3_reset(handle) }

    /// Releases bound memory.
    package func clear() {
        reset()
        sqlite3_clear_bindings(handle)
    }

    /// Returns true for a row, false at the end.
    package func step() throws -> Bool {
        let result = sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw failure(result)
    }

    @inline(never)
    private func failure(_ result: Int32) -> SQLiteStoreError {
        let error = connection.error(result, sql: sql)
        reset()
        return error
    }

    /// Steps once and resets, for statements without results.
    package func run() throws {
        _ = try step()
        reset()
    }

    /// Steps once and resets. For an `INSERT OR FAIL`.
    /// - Returns: false if a row violates a constraint. The rows before it were inserted.
    func insert() throws -> Bool {
        let result = sqlite3_step(handle)
        guard result != SQLITE_DONE, result & 0xff != SQLITE_CONSTRAINT else {
            reset()
            return result == SQLITE_DONE
        }
        throw failure(result)
    }

    /// Like ``run()``, but binds bytes to one parameter without copying them.
    func run(bytes: [UInt8], at position: Int) throws {
        defer { sqlite3_bind_null(handle, Int32(position)) }
        try bytes.withUnsafeBufferPointer { bytes in
            bindBlob(bytes.baseAddress, count: bytes.count, copying: false, at: position)
            try run()
        }
    }

    // MARK: Binding. Positions count from 1.

    package func bind(_ value: Value, at position: Int) {
        switch value {
        case .null: bindNull(at: position)
        case .bool(let value): bind(value ? 1 : 0 as Int64, at: position)
        case .int(let value), .date(let value): bind(value, at: position)
        case .double(let value): bind(value, at: position)
        case .string(var text):
            text.withUTF8 { bindText($0.baseAddress, count: $0.count, copying: true, at: position) }
        case .data(let data):
            data.withUnsafeBytes {
                bindBlob(
                    $0.assumingMemoryBound(to: UInt8.self).baseAddress, count: $0.count, copying: true, at: position)
            }
        case .objectId(let id):
            let high = id.high.bigEndian
            let low = id.low.bigEndian
            withUnsafeTemporaryAllocation(byteCount: ObjectId.byteCount, alignment: 8) { buffer in
                buffer.storeBytes(of: high, as: UInt64.self)
                buffer.storeBytes(of: low, toByteOffset: 8, as: UInt32.self)
                bindBlob(
                    buffer.assumingMemoryBound(to: UInt8.self).baseAddress, count: ObjectId.byteCount, copying: true,
                    at: position)
            }
        case .decimal(let number): bind(.string(number.description), at: position)
        case .uuid(let id):
            withUnsafeBytes(of: id.uuid) {
                bindBlob($0.assumingMemoryBound(to: UInt8.self).baseAddress, count: 16, copying: true, at: position)
            }
        }
    }

    package func bindNull(at position: Int) { sqlite3_bind_null(handle, Int32(position)) }
    package func bind(_ value: Int64, at position: Int) { sqlite3_bind_int64(handle, Int32(position), value) }
    package func bind(_ value: Double, at position: Int) { sqlite3_bind_double(handle, Int32(position), value) }

    package func bind(bytes: [UInt8], at position: Int) {
        bytes.withUnsafeBufferPointer { bindBlob($0.baseAddress, count: $0.count, copying: true, at: position) }
    }

    /// Without `copying`, the bytes must stay valid until the statement has been stepped.
    func bindText(_ bytes: UnsafePointer<UInt8>?, count: Int, copying: Bool, at position: Int) {
        guard let bytes, count > 0 else {
            // A null pointer would bind NULL.
            sqlite3_bind_text(handle, Int32(position), "", 0, Self.transient)
            return
        }
        bytes.withMemoryRebound(to: CChar.self, capacity: count) {
            _ = sqlite3_bind_text64(
                handle, Int32(position), $0, UInt64(count), copying ? Self.transient : nil, UInt8(SQLITE_UTF8))
        }
    }

    /// Without `copying`, the bytes must stay valid until the statement has been stepped.
    func bindBlob(_ bytes: UnsafePointer<UInt8>?, count: Int, copying: Bool, at position: Int) {
        guard let bytes, count > 0 else {
            sqlite3_bind_zeroblob(handle, Int32(position), 0)
            return
        }
        sqlite3_bind_blob64(handle, Int32(position), bytes, UInt64(count), copying ? Self.transient : nil)
    }

    /// SQLITE_TRANSIENT: SQLite makes its own copy. <https://www.sqlite.org/c3ref/c_static.html>
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Reading. Columns count from 0.

    /// The statement's current row.
    package var current: StatementRow { StatementRow(handle: handle) }

    package func integer(at column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    package func text(at column: Int) -> String { current.text(at: column) ?? "" }
    package func bytes(at column: Int) -> [UInt8] { current.withBytes(at: column) { Array($0) } }

    /// A value of a stored type (``Schema/storedType(of:)``). Returns `.null` for NULL and for bytes of the wrong
    /// length.
    package func value(at column: Int, as type: PropertyType) -> Value { current.value(at: column, as: type) }

    /// Columns `0..<types.count` as a row.
    package func row(_ types: [PropertyType]) -> Row {
        var values: [Value] = []
        values.reserveCapacity(types.count)
        for (column, type) in types.enumerated() { values.append(value(at: column, as: type)) }
        return Row(values)
    }
}
