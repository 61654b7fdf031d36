internal import Foundation

extension PropertyType {
    /// Parses a primary key as people write it: the 24 digits of an ObjectId, a UUID, a number, or the string itself.
    /// Returns nil if the text isn't a key of this type.
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
    /// A primary key as people write it, and as it appears in URLs and SQL functions. ``PropertyType/keyValue(_:)``
    /// parses it.
    package var keyText: String {
        switch self {
        case .objectId(let id): id.stringValue
        case .uuid(let id): id.uuidString.lowercased()
        case .string(let text): text
        default: description
        }
    }
}
