public import Foundation

/// One-dimensional arrays, for `= ANY($1)` and for bulk writes with `unnest($1, $2, …)`.
///
/// Binary form (`array_send` in PostgreSQL's source): Int32 dimensions, Int32 has-nulls, UInt32 element type, then per
/// dimension Int32 length and Int32 lower bound, then per element Int32 length (-1 is NULL) and its bytes.
extension PostgresParameter {
    public static func boolArray(_ values: [Bool?]) -> Self {
        array(PostgresOID.boolArray, PostgresOID.bool, values) { $1.append($0 ? 1 : 0) }
    }

    public static func int32Array(_ values: [Int32?]) -> Self {
        array(PostgresOID.int4Array, PostgresOID.int4, values) { $1.appendBigEndian($0) }
    }

    public static func int64Array(_ values: [Int64?]) -> Self {
        array(PostgresOID.int8Array, PostgresOID.int8, values) { $1.appendBigEndian($0) }
    }

    public static func doubleArray(_ values: [Double?]) -> Self {
        array(PostgresOID.float8Array, PostgresOID.float8, values) { $1.appendBigEndian($0.bitPattern) }
    }

    public static func textArray(_ values: [String?]) -> Self {
        array(PostgresOID.textArray, PostgresOID.text, values) { $1.append(contentsOf: $0.utf8) }
    }

    public static func byteaArray(_ values: [[UInt8]?]) -> Self {
        array(PostgresOID.byteaArray, PostgresOID.bytea, values) { $1.append(contentsOf: $0) }
    }

    public static func uuidArray(_ values: [UUID?]) -> Self {
        array(PostgresOID.uuidArray, PostgresOID.uuid, values) { value, bytes in
            withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
        }
    }

    /// Microseconds since 1970-01-01 UTC, as in `timestamptz(microseconds:)`.
    public static func timestamptzArray(microseconds values: [Int64?]) -> Self {
        array(PostgresOID.timestamptzArray, PostgresOID.timestamptz, values) {
            $1.appendBigEndian(PostgresTime.encode($0))
        }
    }

    /// Decimal numbers as text, as in `numeric(_:)`. Sent as text, which the server parses.
    public static func numericArray(_ texts: [String?]) -> Self {
        // Numbers have no characters that are special in an array's text form.
        Self(PostgresOID.numericArray, .textFormat("{\(texts.map { $0 ?? "NULL" }.joined(separator: ","))}"))
    }

    /// JSON texts as a `jsonb[]`.
    public static func jsonbArray(_ values: [String?]) -> Self {
        array(PostgresOID.jsonbArray, PostgresOID.jsonb, values) { value, bytes in
            bytes.append(PostgresBinary.jsonbVersion)
            bytes.append(contentsOf: value.utf8)
        }
    }

    private static func array<Element>(
        _ arrayOID: UInt32, _ elementOID: UInt32, _ values: [Element?], _ encode: (Element, inout [UInt8]) -> Void
    ) -> Self {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.count * 12)
        bytes.appendBigEndian(Int32(values.isEmpty ? 0 : 1))
        bytes.appendBigEndian(Int32(values.contains { $0 == nil } ? 1 : 0))
        bytes.appendBigEndian(elementOID)
        if !values.isEmpty {
            bytes.appendBigEndian(Int32(clamping: values.count))
            bytes.appendBigEndian(Int32(1))
        }
        for value in values {
            let lengthAt = bytes.count
            bytes.appendBigEndian(Int32(-1))
            guard let value else { continue }
            encode(value, &bytes)
            let length = Int32(clamping: bytes.count - lengthAt - 4)
            withUnsafeBytes(of: length.bigEndian) { raw in
                for index in 0..<4 { bytes[lengthAt + index] = raw[index] }
            }
        }
        return Self(arrayOID, .bytes(bytes))
    }
}

enum PostgresBinary {
    /// The first byte of a binary `jsonb`.
    static let jsonbVersion: UInt8 = 1
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
