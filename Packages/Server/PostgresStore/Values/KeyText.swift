internal import Foundation
internal import PostgresClient
internal import TomboloModel

/// The text form of keys and old values in the changelog. It doesn't depend on any session setting: integers are in
/// decimal and bytes in hexadecimal; doubles, dates and decimals are the hexadecimal bytes of PostgreSQL's binary
/// form.
enum KeyText {
    /// SQL that turns an expression of a stored type into text, whatever the search path. NULL stays NULL.
    static func expression(_ sql: String, _ type: PropertyType) -> String {
        switch type {
        case .bool, .int, .uuid: "\(sql)::pg_catalog.text"
        case .double: "pg_catalog.encode(pg_catalog.float8send(\(sql)), 'hex')"
        case .date: "pg_catalog.encode(pg_catalog.timestamptz_send(\(sql)), 'hex')"
        case .decimal128: "pg_catalog.encode(pg_catalog.numeric_send(\(sql)), 'hex')"
        case .string: sql
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects:
            "pg_catalog.encode(\(sql), 'hex')"
        }
    }

    /// SQL that turns the text of a key back into its type.
    static func parsingExpression(_ sql: String, _ type: PropertyType) -> String {
        switch type {
        case .int: "\(sql)::bigint"
        case .uuid: "\(sql)::uuid"
        case .data, .objectId: "decode(\(sql), 'hex')"
        default: sql
        }
    }

    /// Whether ``text(_:)`` of a value always equals the result of ``expression(_:_:)``. It doesn't for decimals, for
    /// example, which have several forms.
    static func isSame(_ type: PropertyType?) -> Bool {
        switch type {
        case .bool, .int, .uuid, .string, .data, .objectId: true
        default: false
        }
    }

    static func text(_ value: Value) -> String? {
        if case .string(let text) = value { return text }
        var bytes: [UInt8] = []
        return append(value, to: &bytes) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Appends the text in UTF-8, without creating a string.
    /// - Returns: false for null, which has no text.
    static func append(_ value: Value, to bytes: inout [UInt8]) -> Bool {
        switch value {
        case .null: return false
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number): bytes.appendHexadecimal(number.bitPattern)
        case .date(let microseconds):
            bytes.appendHexadecimal(UInt64(bitPattern: microseconds &- PostgresTime.epochMicroseconds))
        case .string(let text): bytes.append(contentsOf: text.utf8)
        case .data(let data): data.withUnsafeBytes { bytes.appendHexadecimal($0) }
        case .objectId(let id): id.withBytes { bytes.appendHexadecimal($0) }
        case .uuid(let id): bytes.append(contentsOf: id.uuidString.lowercased().utf8)
        case .decimal(let number): bytes.append(contentsOf: number.description.utf8)
        }
        return true
    }

    /// - Returns: nil if the text isn't a value of the type.
    static func value(_ text: String?, _ type: PropertyType) -> Value? {
        guard let text else { return .null }
        switch type {
        case .bool: return text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        case .int: return Int64(text).map(Value.int)
        case .double: return UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) }
        case .date:
            return UInt64(text, radix: 16).map { .date(Int64(bitPattern: $0) &+ PostgresTime.epochMicroseconds) }
        case .string: return .string(text)
        case .data: return bytes(text).map { .data(Data($0)) }
        case .objectId: return bytes(text).flatMap { ObjectId(bytes: $0) }.map(Value.objectId)
        case .uuid: return UUID(uuidString: text).map(Value.uuid)
        case .decimal128:
            let number = bytes(text).flatMap { bytes in bytes.withUnsafeBytes { PostgresNumeric.scientific($0) } }
            return number.flatMap { Decimal128($0) }.map(Value.decimal)
        case .float, .link, .embedded, .array, .list, .linkingObjects: return nil
        }
    }

    /// Parses the text's UTF-8. Nil if the text isn't an ObjectId.
    static func objectId(_ text: UnsafeRawBufferPointer) -> ObjectId? {
        guard text.count == 2 * ObjectId.byteCount else { return nil }
        func number<Number: FixedWidthInteger>(_ range: Range<Int>) -> Number? {
            var result: Number = 0
            for character in text[range] {
                guard let digit = digit(character) else { return nil }
                result = result << 4 | Number(digit)
            }
            return result
        }
        guard let high: UInt64 = number(0..<16), let low: UInt32 = number(16..<24) else { return nil }
        return ObjectId(high: high, low: low)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count / 2)
        var pending: UInt8?
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            if let high = pending {
                result.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        return pending == nil ? result : nil
    }
}

extension [UInt8] {
    /// Two lower-case hexadecimal digits for each byte.
    fileprivate mutating func appendHexadecimal(_ content: UnsafeRawBufferPointer) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
        for byte in content {
            append(digit(byte >> 4))
            append(digit(byte & 0xf))
        }
    }

    /// Sixteen hexadecimal digits.
    fileprivate mutating func appendHexadecimal(_ number: UInt64) {
        Swift.withUnsafeBytes(of: number.bigEndian) { appendHexadecimal($0) }
    }
}
