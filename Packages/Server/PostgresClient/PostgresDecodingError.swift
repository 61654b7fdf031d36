/// A cell that can't be read as the requested type, or a column that doesn't exist.
public struct PostgresDecodingError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        case noSuchColumn(known: [String])
        case null
        /// The column has another type.
        case typeMismatch
        /// The bytes aren't a valid value of the type.
        case malformed
        /// The value is valid on the server but out of the Swift type's range.
        case outOfRange
    }

    /// Why the cell couldn't be read.
    public var reason: Reason
    /// The column's name.
    public var column: String
    /// The row's index in the result, from 0.
    public var row: Int
    /// The Swift type that was requested.
    public var expected: String
    /// The OID of the column's type (`SELECT oid::regtype`).
    public var foundOID: UInt32

    public init(reason: Reason, column: String, row: Int, expected: String, foundOID: UInt32) {
        self.reason = reason
        self.column = column
        self.row = row
        self.expected = expected
        self.foundOID = foundOID
    }

    public var description: String {
        switch reason {
        case .noSuchColumn(let known):
            "the result has no column \"\(column)\"; it has: \(known.joined(separator: ", "))"
        case .null:
            "column \"\(column)\", row \(row): found NULL, expected \(expected); "
                + "check isNull, use nonNull, or COALESCE in the SQL"
        case .typeMismatch:
            "column \"\(column)\", row \(row): the type with OID \(foundOID) can't be read as \(expected); "
                + "cast it in the SQL"
        case .malformed:
            "column \"\(column)\", row \(row): the bytes (type with OID \(foundOID)) aren't a valid \(expected)"
        case .outOfRange:
            "column \"\(column)\", row \(row): the value doesn't fit into \(expected)"
        }
    }
}
