public import Foundation
public import TomboloModel

/// A document that the server stores for a user, such as custom data, or the payload of a login function.
public typealias Document = [String: AnyBSON?]

/// A value in a ``Document``. Over the wire it's plain JSON: dates, identifiers and decimals arrive as strings.
public enum AnyBSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case string(String)
    case datetime(Date)
    case objectId(ObjectId)
    case uuid(UUID)
    case decimal128(Decimal128)
    case binary(Data)
    case array([AnyBSON?])
    case document(Document)

    /// Whether this is ``null``.
    public var isNull: Bool { self == .null }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var int32Value: Int32? { if case .int32(let value) = self { value } else { nil } }
    public var int64Value: Int64? { if case .int64(let value) = self { value } else { nil } }
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var dateValue: Date? { if case .datetime(let value) = self { value } else { nil } }
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }
    public var binaryValue: Data? { if case .binary(let value) = self { value } else { nil } }
    public var arrayValue: [AnyBSON?]? { if case .array(let value) = self { value } else { nil } }
    public var documentValue: Document? { if case .document(let value) = self { value } else { nil } }

    /// The value as a whole number, from any kind of number; nil if it isn't one.
    public func asInt() -> Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The value as a floating-point number, from any kind of number.
    public func asDouble() -> Double? {
        switch self {
        case .int32(let value): Double(value)
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}

extension AnyBSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int64(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: AnyBSON?...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, AnyBSON?)...) {
        self = .document(Dictionary(elements) { _, last in last })
    }
}

extension AnyBSON: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int64(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyBSON].self) {
            self = .array(value)
        } else {
            self = .document(try container.decode([String: AnyBSON].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int32(let value): try container.encode(value)
        case .int64(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .datetime(let value):
            // Milliseconds are BSON's precision.
            let isWhole = value.timeIntervalSinceReferenceDate.rounded() == value.timeIntervalSinceReferenceDate
            try container.encode(value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: !isWhole)))
        case .objectId(let value): try container.encode(value.stringValue)
        case .uuid(let value): try container.encode(value.uuidString.lowercased())
        case .decimal128(let value): try container.encode(value.description)
        case .binary(let value): try container.encode(value.base64EncodedString())
        case .array(let value): try container.encode(value.map { $0 ?? .null })
        case .document(let value): try container.encode(value.mapValues { $0 ?? .null })
        }
    }
}
