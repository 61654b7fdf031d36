internal import Foundation
internal import TomboloModel

extension UserValue {
    /// The same value in a column's type, or nil if a column of that type can't hold it.
    /// - Parameter type: a stored type; for a link, the type of its target's key.
    func converted(to type: PropertyType) -> Value? {
        switch (type, self) {
        case (.bool, .bool(let flag)): .bool(flag)
        case (.int, .int(let number)): .int(number)
        case (.int, .double(let number)): Int64(exactly: number).map(Value.int)
        case (.double, .double(let number)): .double(number)
        case (.double, .int(let number)): .double(Double(number))
        // As in queries: no float equals 0.1, but one is nearest to it.
        case (.float, .double(let number)): Value.double(number).converted(to: .float)
        case (.float, .int(let number)): Value.int(number).converted(to: .float)
        case (.string, .string(let text)):
            text.utf8.count <= Value.maximumByteCount && !text.utf8.contains(0) ? .string(text) : nil
        case (.date, .string(let text)): Self.date(text)
        case (.objectId, .string(let text)): (try? ObjectId(string: text)).map(Value.objectId)
        case (.uuid, .string(let text)): UUID(uuidString: text).map(Value.uuid)
        case (.decimal128, .int(let number)): (try? Decimal128(string: "\(number)")).map(Value.decimal)
        case (.decimal128, .double(let number)): (try? Decimal128(string: "\(number)")).map(Value.decimal)
        case (.decimal128, .string(let text)): (try? Decimal128(string: text)).map(Value.decimal)
        default: nil
        }
    }

    /// An object's key, in the form that ``converted(to:)`` can convert to any column type.
    init(key: Value) {
        switch key {
        case .int(let number): self = .int(number)
        case .string(let text): self = .string(text)
        case .objectId(let id): self = .string(id.stringValue)
        case .uuid(let id): self = .string(id.uuidString.lowercased())
        case .null, .bool, .double, .data, .date, .decimal: self = .null
        }
    }

    /// A date without a time zone is in UTC.
    private static func date(_ text: String) -> Value? {
        (Timestamp.microseconds(text) ?? Timestamp.microseconds(text + "Z")).map(Value.date)
    }
}
