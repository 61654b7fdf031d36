import Foundation
import TomboloHTTP
package import TomboloModel

/// Values as text, in filters, cursors and resources.
package enum ValueText {
    /// Reads a value of a type from the text that ``JSON`` writes for it.
    /// - Parameter isOwn: whether this server may have written the text, for instance in an export: numbers may be
    ///   infinite, and decimals also NaN or without an exponent, however long that makes them.
    /// - Returns: nil for text that isn't a value of the type.
    package static func value(_ text: String, _ type: PropertyType, isOwn: Bool = false) -> Value? {
        switch type {
        case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        case .int: isDecimal(text) ? Int64(text).map(Value.int) : nil
        case .float, .double:
            Double(text).flatMap { number in
                // 1e999 would become infinite too.
                (isDecimal(text) ? number.isFinite : isOwn && number.isInfinite) ? .double(number) : nil
            }
        case .decimal128:
            isOwn || text.utf8.count <= maximumDecimalByteCount
                ? (try? Decimal128(string: text)).flatMap { $0.isNaN && !isOwn ? nil : .decimal($0) } : nil
        case .string: text.utf8.contains(0) ? nil : .string(text)
        case .date: Timestamp.microseconds(text).map(Value.date)
        case .objectId: (try? ObjectId(string: text)).map(Value.objectId)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .data: Data(base64Encoded: text).map(Value.data)
        case .link, .embedded, .array, .list, .linkingObjects: nil
        }
    }

    /// Reads an infinite number from the string that stands for it in exports and ``ResourceMembers``.
    static func infinity(_ text: String) -> Value? {
        guard case .double(let number)? = value(text, .double, isOwn: true), number.isInfinite else { return nil }
        return .double(number)
    }

    private static let maximumDecimalByteCount = 100

    /// Whether it's a decimal number, without hexadecimal digits and words such as `nan`.
    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
    }

    /// The text of a value, which ``value(_:_:isOwn:)`` reads back; nil for null.
    package static func text(_ value: Value) -> String? {
        switch value {
        case .null: nil
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): value.description
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value): JSON.timestamp(value)
        case .objectId(let value): value.stringValue
        case .uuid(let value): value.uuidString.lowercased()
        case .decimal(let value): value.description
        }
    }

    /// What is expected of a value, for messages.
    package static func expected(_ type: PropertyType) -> Wording {
        switch type {
        case .bool: Wording("true or false")
        case .int(let bits) where bits == 64: Wording("a whole number")
        case .int(let bits): Wording("a whole number from \(-(1 << (bits - 1))) to \((1 << (bits - 1)) - 1)")
        case .float, .double: Wording("a number such as \(example(type))")
        case .decimal128: Wording("a decimal number such as \(example(type))")
        case .string: Wording("text without U+0000")
        case .date: Wording("a date and time such as \(example(type))")
        case .objectId: Wording("an id of 24 hexadecimal digits")
        case .uuid: Wording("a UUID")
        case .data: Wording("base64")
        case .link, .embedded, .array, .list, .linkingObjects: Wording("a value of type \(type.name)")
        }
    }

    /// A value of a type as text, for messages and examples; empty for types without single values.
    package static func example(_ type: PropertyType) -> String {
        switch type {
        case .bool: "true"
        case .int: "1"
        case .float, .double: "12.5"
        case .decimal128: "12.50"
        case .string: "Example"
        case .date: "2026-05-14T13:22:18Z"
        case .objectId: "6a05d3fa0123456789abcdef"
        // RFC 9562, appendix A.
        case .uuid: "919108f7-52d1-4320-9bac-f847db4148a8"
        case .data: "AAEC"
        case .link, .embedded, .array, .list, .linkingObjects: ""
        }
    }
}
