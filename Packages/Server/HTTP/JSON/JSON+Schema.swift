import Foundation
public import TomboloModel

extension JSON {
    /// The JSON form of a stored value: dates as ISO 8601 in UTC with microseconds, ids as strings, data as base64. A
    /// 64-bit integer is a JSON number; programs that read JSON numbers as doubles see 53 bits of it.
    public init(_ value: TomboloModel.Value) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .string(value.base64EncodedString())
        case .date(let microseconds): self = .string(Self.timestamp(microseconds))
        case .objectId(let value): self = .string(value.stringValue)
        case .uuid(let value): self = .string(value.uuidString.lowercased())
        case .decimal(let value): self = .string(value.description)
        }
    }

    /// An object with a member for each of the class's columns, with the property's name.
    /// - Parameter properties: only these columns; nil for all.
    public init(_ row: Row, of item: ClassSchema, properties: Set<String>? = nil) {
        var members: [String: JSON] = [:]
        for (column, value) in zip(item.columns, row.values) where properties?.contains(column.name) ?? true {
            members[column.name] = JSON(value)
        }
        self = .object(members)
    }

    /// Formats microseconds since 1970 as `2026-05-14T13:22:18.473000Z`.
    public static func timestamp(_ microseconds: Int64) -> String {
        var text = JSONBytes()
        text.append(timestamp: microseconds)
        return String(decoding: text.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}
