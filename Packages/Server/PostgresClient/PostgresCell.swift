import CLibPQ
public import Foundation

/// One value of a result: a reference into the result's memory, decoded on access.
public struct PostgresCell: Sendable {
    let storage: PostgresResultStorage
    let row: Int32
    let column: Int32

    public var isNull: Bool {
        PQgetisnull(storage.raw, row, column) == 1
    }

    /// The OID of the value's type.
    public var oid: UInt32 {
        PQftype(storage.raw, column)
    }

    /// The cell itself, or nil for NULL: `try row["name"].nonNull?.string`.
    public var nonNull: PostgresCell? {
        isNull ? nil : self
    }

    /// The value's bytes as the server sent them (none for NULL), valid during `body`.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(storage) { try body(rawBytes) }
    }

    private var rawBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(storage.raw, row, column), count: Int(PQgetlength(storage.raw, row, column)))
    }

    private func decode<T>(
        _ expected: String, _ body: (PostgresBinaryValue) throws(PostgresBinaryValue.Failure) -> T
    ) throws(PostgresDecodingError) -> T {
        guard !isNull else { throw failure(.null, expected) }
        let isBinary = PQfformat(storage.raw, column) == 1
        let result: Result<T, PostgresBinaryValue.Failure> = withExtendedLifetime(storage) {
            let value = PostgresBinaryValue(oid: oid, isBinary: isBinary, bytes: rawBytes)
            do throws(PostgresBinaryValue.Failure) {
                return .success(try body(value))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw failure(error.reason, expected)
        }
    }

    private func failure(_ reason: PostgresDecodingError.Reason, _ expected: String) -> PostgresDecodingError {
        PostgresDecodingError(
            reason: reason, column: storage.columnName(Int(column)), row: Int(row), expected: expected, foundOID: oid)
    }
}

/// Every decoder throws `PostgresDecodingError` for NULL, for another type and for malformed bytes.
extension PostgresCell {
    /// `int2`, `int4`, `int8`, `oid`, `xid`, `xid8`, `pg_lsn`.
    public var int64: Int64 {
        get throws(PostgresDecodingError) {
            try decode("Int64") { value throws(PostgresBinaryValue.Failure) in try value.int64() }
        }
    }

    /// Like `int64`, as `Int`.
    public var int: Int {
        get throws(PostgresDecodingError) { Int(try int64) }
    }

    /// The value of a `bool`.
    public var bool: Bool {
        get throws(PostgresDecodingError) {
            try decode("Bool") { value throws(PostgresBinaryValue.Failure) in try value.bool() }
        }
    }

    /// `float4`, `float8`.
    public var double: Double {
        get throws(PostgresDecodingError) {
            try decode("Double") { value throws(PostgresBinaryValue.Failure) in try value.double() }
        }
    }

    /// Text types, `json`, `jsonb`, `numeric`, enums.
    public var string: String {
        get throws(PostgresDecodingError) {
            try decode("String") { value throws(PostgresBinaryValue.Failure) in try value.string() }
        }
    }

    /// A `numeric` as digits and exponent, like `1250E-2`, of bounded length; see ``PostgresNumeric/scientific(_:)``.
    public var scientific: String {
        get throws(PostgresDecodingError) {
            try decode("numeric") { value throws(PostgresBinaryValue.Failure) in try value.scientific() }
        }
    }

    /// `bytea`, copied.
    public var bytes: [UInt8] {
        get throws(PostgresDecodingError) {
            try decode("[UInt8]") { value throws(PostgresBinaryValue.Failure) in try value.byteArray() }
        }
    }

    /// The value of a `uuid`.
    public var uuid: UUID {
        get throws(PostgresDecodingError) {
            try decode("UUID") { value throws(PostgresBinaryValue.Failure) in try value.uuid() }
        }
    }

    /// Microseconds since 1970-01-01 UTC of a `timestamptz`, or of a `timestamp` taken as UTC; infinity and -infinity
    /// are `Int64.max` and `.min`.
    public var timestampMicroseconds: Int64 {
        get throws(PostgresDecodingError) {
            try decode("timestamp") { value throws(PostgresBinaryValue.Failure) in try value.timestampMicroseconds() }
        }
    }

    /// The value as PostgreSQL prints it, for numbers, booleans, text, JSON, `uuid` and `bytea`, and for any value that
    /// came in text form.
    public var text: String {
        get throws(PostgresDecodingError) {
            try decode("text") { value throws(PostgresBinaryValue.Failure) in try value.text() }
        }
    }
}

/// One-dimensional arrays; NULL elements are `nil`.
extension PostgresCell {
    private func elements<T>(
        _ expected: String, _ body: (PostgresBinaryValue) throws(PostgresBinaryValue.Failure) -> T
    ) throws(PostgresDecodingError) -> [T?] {
        try decode(expected) { array throws(PostgresBinaryValue.Failure) in try array.elements(body) }
    }

    /// `int2[]`, `int4[]` or `int8[]`.
    public var int64Array: [Int64?] {
        get throws(PostgresDecodingError) {
            try elements("[Int64?]") { value throws(PostgresBinaryValue.Failure) in try value.int64() }
        }
    }

    /// `bool[]`.
    public var boolArray: [Bool?] {
        get throws(PostgresDecodingError) {
            try elements("[Bool?]") { value throws(PostgresBinaryValue.Failure) in try value.bool() }
        }
    }

    /// `float4[]` or `float8[]`.
    public var doubleArray: [Double?] {
        get throws(PostgresDecodingError) {
            try elements("[Double?]") { value throws(PostgresBinaryValue.Failure) in try value.double() }
        }
    }

    /// Arrays of the types that ``string`` reads.
    public var stringArray: [String?] {
        get throws(PostgresDecodingError) {
            try elements("[String?]") { value throws(PostgresBinaryValue.Failure) in try value.string() }
        }
    }

    /// `bytea[]`, copied.
    public var bytesArray: [[UInt8]?] {
        get throws(PostgresDecodingError) {
            try elements("[[UInt8]?]") { value throws(PostgresBinaryValue.Failure) in try value.byteArray() }
        }
    }

    /// `uuid[]`.
    public var uuidArray: [UUID?] {
        get throws(PostgresDecodingError) {
            try elements("[UUID?]") { value throws(PostgresBinaryValue.Failure) in try value.uuid() }
        }
    }

    /// `timestamptz[]` or `timestamp[]`, in the unit of ``timestampMicroseconds``.
    public var timestampMicrosecondsArray: [Int64?] {
        get throws(PostgresDecodingError) {
            try elements("[Int64?]") { value throws(PostgresBinaryValue.Failure) in try value.timestampMicroseconds() }
        }
    }
}
