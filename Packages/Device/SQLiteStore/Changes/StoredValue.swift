internal import GRDBSQLite

/// A value as SQLite stores and orders it: NULL first, then numbers, then text ordered by its bytes, then blobs.
/// <https://www.sqlite.org/datatype3.html#comparison_expressions>
package enum StoredValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case bytes([UInt8])

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .bytes: 3
        }
    }

    /// Negative if this comes first, zero if both are equal.
    package func compared(to other: StoredValue) -> Int {
        switch (self, other) {
        case (.null, .null): 0
        case (.integer(let left), .integer(let right)): Self.compare(left, right)
        case (.real(let left), .real(let right)): Self.compare(left, right)
        case (.integer(let left), .real(let right)): Self.compare(left, right)
        case (.real(let left), .integer(let right)): -Self.compare(right, left)
        case (.text(let left), .text(let right)), (.bytes(let left), .bytes(let right)):
            left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        default: Self.compare(rank, other.rank)
        }
    }

    private static func compare<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// Compares without rounding the integer.
    private static func compare(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right.rounded(.down))
        return left != whole ? compare(left, whole) : right > right.rounded(.down) ? -1 : 0
    }
}

extension SQLiteStatement {
    /// A value of the row as stored.
    package func stored(at column: Int) -> StoredValue {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer(integer(at: column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, Int32(column)))
        case SQLITE_TEXT: .text(bytes(at: column))
        case SQLITE_BLOB: .bytes(bytes(at: column))
        default: .null
        }
    }
}
