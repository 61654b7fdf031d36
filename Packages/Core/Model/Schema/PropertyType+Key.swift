internal import Foundation

extension PropertyType {
    /// A primary key from the text that people write for it: the 24 digits of an ObjectId, a UUID, a number, or the text
    /// itself. Nil for text that isn't a key of this type.
    package func keyValue(_ text: String) -> Value? {
        switch self {
        case .objectId: (try? ObjectId(string: text)).map(Value.objectId)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .int: Int64(text).map(Value.int)
        case .string: .string(text)
        default: nil
        }
    }
}

extension Value {
    /// A primary key as people write it, and as addresses and SQL functions have it: what ``PropertyType/keyValue(_:)`` reads.
    package var keyText: String {
        switch self {
        case .objectId(let id): id.stringValue
        case .uuid(let id): id.uuidString.lowercased()
        case .string(let text): text
        default: description
        }
    }
}
