internal import Foundation
internal import GRDBSQLite
package import TomboloModel

/// A statement's current row, with columns numbered from 0. It isn't reference-counted, so before stepping or resetting
/// the statement, its owner must tell the row's readers.
package struct StatementRow {
    let handle: OpaquePointer?

    /// The first column, for statements that select the rowid first.
    package var rowid: Int64 { sqlite3_column_int64(handle, 0) }

    package func isNull(at column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    /// Nil for NULL, which SQLite returns as 0.
    package func integer(at column: Int) -> Int64? {
        let number = sqlite3_column_int64(handle, Int32(column))
        return number == 0 && isNull(at: column) ? nil : number
    }

    package func double(at column: Int) -> Double? {
        let number = sqlite3_column_double(handle, Int32(column))
        return number == 0 && isNull(at: column) ? nil : number
    }

    package func text(at column: Int) -> String? {
        // Get the pointer first, then the count: <https://www.sqlite.org/c3ref/column_blob.html>
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func withBytes<Result>(at column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = sqlite3_column_blob(handle, Int32(column))
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }

    /// A value of a stored type (``Schema/storedType(of:)``). Returns `.null` for NULL and for bytes of the wrong
    /// length.
    package func value(at column: Int, as type: PropertyType) -> Value {
        if isNull(at: column) { return .null }
        switch type {
        case .bool: return .bool(sqlite3_column_int64(handle, Int32(column)) != 0)
        case .int: return .int(sqlite3_column_int64(handle, Int32(column)))
        case .date: return .date(sqlite3_column_int64(handle, Int32(column)))
        case .double: return .double(sqlite3_column_double(handle, Int32(column)))
        case .string: return .string(text(at: column) ?? "")
        case .data: return .data(withBytes(at: column) { Data($0) })
        case .objectId:
            return withBytes(at: column) { bytes in
                guard bytes.count == ObjectId.byteCount else { return .null }
                return .objectId(
                    ObjectId(
                        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                        low: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))))
            }
        case .uuid:
            return withBytes(at: column) { bytes in
                guard bytes.count == 16 else { return .null }
                return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
            }
        case .decimal128: return Decimal128(text(at: column) ?? "").map(Value.decimal) ?? .null
        case .float, .link, .embedded, .array, .list, .linkingObjects: return .null
        }
    }
}
