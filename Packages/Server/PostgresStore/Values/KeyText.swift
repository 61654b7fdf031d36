internal import Foundation
internal import PostgresClient
internal import TomboloModel

/// The text form that the changelog gives to keys and to old values. Independent of every session setting: integers in
/// digits, bytes in hexadecimal; doubles, dates and decimals as the bytes of PostgreSQL's binary form, in hexadecimal.
enum KeyText {
    /// SQL that turns an expression of a stored type into text, whatever the search path; NULL stays NULL.
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

    /// Whether ``text(_:)`` of a value is what ``expression(_:_:)`` makes of it: not of decimals, which have several forms.
    static func isSame(_ type: PropertyType?) -> Bool {
        switch type {
        case .bool, .int, .uuid, .string, .data, .objectId: true
        default: false
        }
    }

    static func text(_ value: Value) -> String? {
        switch value {
        case .null: nil
        case .bool(let flag): flag ? "true" : "false"
        case .int(let number): String(number)
        case .double(let number): number.bitPattern.hexadecimal
        case .date(let microseconds): UInt64(bitPattern: microseconds &- PostgresTime.epochMicroseconds).hexadecimal
        case .string(let text): text
        case .data(let data): data.hexadecimal
        case .objectId(let id): id.stringValue
        case .uuid(let id): id.uuidString.lowercased()
        case .decimal(let number): number.description
        }
    }

    /// - Returns: nil for text that no value of the type has.
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

    private static func bytes(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count / 2)
        var pending: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
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

extension UInt64 {
    /// Sixteen hexadecimal digits.
    fileprivate var hexadecimal: String { withUnsafeBytes(of: bigEndian) { Array($0).hexadecimal } }
}
