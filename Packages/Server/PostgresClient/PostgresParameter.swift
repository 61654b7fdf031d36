public import Foundation

/// One value for `$1`, `$2`, … of a statement, sent in binary with its type.
///
/// Every constructor takes an optional: nil is a NULL of that type. Literals work too: strings are `text`, integers
/// `int8`, floating-point numbers `float8`.
public struct PostgresParameter: Sendable, Hashable {
    enum Storage: Sendable, Hashable {
        case null
        case bool(Bool)
        case int16(Int16)
        case int32(Int32)
        case int64(Int64)
        case double(Double)
        case string(String)
        case jsonb(String)
        case bytes([UInt8])
        case data(Data)
        case uuid(UUID)
        /// Sent as text, which the server parses.
        case textFormat(String)
    }

    /// The OID of the parameter's type; 0 lets the server infer it.
    public let oid: UInt32
    let storage: Storage

    init(_ oid: UInt32, _ storage: Storage?) {
        self.oid = oid
        self.storage = storage ?? .null
    }

    public var isNull: Bool {
        storage == .null
    }

    /// The approximate memory that the value takes, in bytes.
    package var byteCount: Int {
        switch storage {
        case .null, .bool, .int16, .int32, .int64, .double, .uuid: 16
        case .string(let text), .jsonb(let text), .textFormat(let text): 16 + text.utf8.count
        case .bytes(let bytes): 16 + bytes.count
        case .data(let data): 16 + data.count
        }
    }
}

extension PostgresParameter.Storage {
    /// Texts are compared by their bytes, as on the server: `é` as one code point and as two are different values.
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int16(let a), .int16(let b)): a == b
        case (.int32(let a), .int32(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)), (.jsonb(let a), .jsonb(let b)), (.textFormat(let a), .textFormat(let b)):
            a.isSameText(as: b)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.null, _), (.bool, _), (.int16, _), (.int32, _), (.int64, _), (.double, _), (.string, _), (.jsonb, _),
            (.textFormat, _), (.bytes, _), (.data, _), (.uuid, _):
            false
        }
    }
}

extension PostgresParameter {
    /// A NULL whose type the server infers.
    public static let null = PostgresParameter(PostgresOID.inferred, nil)

    public static func bool(_ value: Bool?) -> Self {
        Self(PostgresOID.bool, value.map { .bool($0) })
    }

    public static func int16(_ value: Int16?) -> Self {
        Self(PostgresOID.int2, value.map { .int16($0) })
    }

    public static func int32(_ value: Int32?) -> Self {
        Self(PostgresOID.int4, value.map { .int32($0) })
    }

    public static func int64(_ value: Int64?) -> Self {
        Self(PostgresOID.int8, value.map { .int64($0) })
    }

    public static func double(_ value: Double?) -> Self {
        Self(PostgresOID.float8, value.map { .double($0) })
    }

    /// A `text`. U+0000 in it is an error (22021).
    public static func text(_ value: String?) -> Self {
        Self(PostgresOID.text, value.map { .string($0) })
    }

    /// A `text` that is already encoded as UTF-8.
    public static func text(utf8 bytes: [UInt8]) -> Self {
        Self(PostgresOID.text, .bytes(bytes))
    }

    public static func bytea(_ value: [UInt8]?) -> Self {
        Self(PostgresOID.bytea, value.map { .bytes($0) })
    }

    public static func bytea(_ value: Data?) -> Self {
        Self(PostgresOID.bytea, value.map { .data($0) })
    }

    public static func uuid(_ value: UUID?) -> Self {
        Self(PostgresOID.uuid, value.map { .uuid($0) })
    }

    /// A point in time as microseconds since 1970-01-01 UTC; `Int64.max` and `.min` are infinity and -infinity.
    public static func timestamptz(microseconds value: Int64?) -> Self {
        Self(PostgresOID.timestamptz, value.map { .int64(PostgresTime.encode($0)) })
    }

    /// JSON text for a `json` value (assignable to a `jsonb` column).
    public static func json(_ text: String?) -> Self {
        Self(PostgresOID.json, text.map { .string($0) })
    }

    /// JSON text for a `jsonb` value.
    public static func jsonb(_ text: String?) -> Self {
        Self(PostgresOID.jsonb, text.map { .jsonb($0) })
    }

    /// A decimal number as text, such as `"12.50"`.
    public static func numeric(_ text: String?) -> Self {
        Self(PostgresOID.numeric, text.map { .textFormat($0) })
    }

    /// A value in PostgreSQL's text form, whose type the server infers (enums, ranges, `pg_snapshot`, …).
    public static func untyped(_ text: String?) -> Self {
        Self(PostgresOID.inferred, text.map { .textFormat($0) })
    }
}

extension PostgresParameter: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) {
        self = .text(value)
    }

    public init(integerLiteral value: Int64) {
        self = .int64(value)
    }

    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    public init(nilLiteral: ()) {
        self = .null
    }
}

extension PostgresParameter: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type only, since values mustn't end up in logs.
    public var description: String {
        isNull ? "NULL" : "<value of type \(oid)>"
    }

    public var debugDescription: String {
        description
    }

    public var customMirror: Mirror {
        Mirror(self, children: ["oid": oid])
    }
}
