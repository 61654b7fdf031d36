/// A cell that does not hold what the caller asked for.
public struct PostgresDecodingError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        case noSuchColumn(known: [String])
        case null
        /// The column's type is another one.
        case typeMismatch
        /// The bytes do not form such a value.
        case malformed
        /// The value exists on the server but not in the Swift type.
        case outOfRange
    }

    public var reason: Reason
    public var column: String
    /// From 0.
    public var row: Int
    /// The Swift type that was asked for.
    public var expected: String
    /// The type's number that the server gave (`SELECT oid::regtype`).
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
            "column \"\(column)\", row \(row): NULL where \(expected) was expected; "
                + "check isNull, use nonNull, or COALESCE in the SQL"
        case .typeMismatch:
            "column \"\(column)\", row \(row): the type with OID \(foundOID) cannot be read as \(expected); "
                + "cast it in the SQL"
        case .malformed:
            "column \"\(column)\", row \(row): the bytes of the type with OID \(foundOID) are not a valid \(expected)"
        case .outOfRange:
            "column \"\(column)\", row \(row): the value does not fit into \(expected)"
        }
    }
}
