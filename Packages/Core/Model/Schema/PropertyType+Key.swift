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
