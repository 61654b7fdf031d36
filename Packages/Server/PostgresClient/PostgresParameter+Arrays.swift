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

    /// The element types of ``array(of:_:_:)``.
    public enum ElementType: Sendable {
        case bool, int64, double, text, bytea, uuid, timestamptz
    }

    /// Encodes an array element by element, without a Swift array of the values.
    /// - Parameters:
    ///   - append: appends an element's value in PostgreSQL's binary form, or returns false for NULL.
    /// - Throws: what `append` throws.
    public static func array<Element, Failure: Error>(
        of type: ElementType, _ elements: some Collection<Element>,
        _ append: (Element, inout [UInt8]) throws(Failure) -> Bool
    ) throws(Failure) -> Self {
        let (arrayOID, elementOID) =
            switch type {
            case .bool: (PostgresOID.boolArray, PostgresOID.bool)
            case .int64: (PostgresOID.int8Array, PostgresOID.int8)
            case .double: (PostgresOID.float8Array, PostgresOID.float8)
            case .text: (PostgresOID.textArray, PostgresOID.text)
            case .bytea: (PostgresOID.byteaArray, PostgresOID.bytea)
            case .uuid: (PostgresOID.uuidArray, PostgresOID.uuid)
            case .timestamptz: (PostgresOID.timestamptzArray, PostgresOID.timestamptz)
            }
        return try encoded(arrayOID, elementOID, elements, append)
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
        encoded(arrayOID, elementOID, values) { value, bytes in
            guard let value else { return false }
            encode(value, &bytes)
            return true
        }
    }

    /// - Parameter append: appends an element's bytes, or returns false for NULL.
    private static func encoded<Element, Failure: Error>(
        _ arrayOID: UInt32, _ elementOID: UInt32, _ elements: some Collection<Element>,
        _ append: (Element, inout [UInt8]) throws(Failure) -> Bool
    ) throws(Failure) -> Self {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.count * 16)
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        let hasNullsAt = bytes.count
        bytes.appendBigEndian(Int32(0))
        bytes.appendBigEndian(elementOID)
        if !elements.isEmpty {
            bytes.appendBigEndian(Int32(clamping: elements.count))
            bytes.appendBigEndian(Int32(1))
        }
        for element in elements {
            let lengthAt = bytes.count
            bytes.appendBigEndian(Int32(-1))
            if try append(element, &bytes) {
                bytes.setBigEndian(Int32(clamping: bytes.count - lengthAt - 4), at: lengthAt)
            } else {
                bytes.setBigEndian(Int32(1), at: hasNullsAt)
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
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites bytes that were already appended.
    fileprivate mutating func setBigEndian(_ value: Int32, at offset: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self) }
    }
}
