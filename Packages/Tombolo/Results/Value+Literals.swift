internal import Foundation
internal import TomboloModel

extension Value {
    /// Whether a property of the value's type can hold it, narrow integers aside.
    var canBeHeld: Bool {
        switch self {
        case .double(let number): !number.isNaN
        case .string(let text): text.utf8.count <= Value.maximumByteCount && !text.utf8.contains(0)
        case .data(let data): data.count <= Value.maximumByteCount
        case .null, .bool, .int, .date, .objectId, .uuid, .decimal: true
        }
    }

    /// Whether the value is of a primary key's type, within its range or not.
    func isKey(of type: PropertyType) -> Bool {
        switch (self, type) {
        case (.int, .int), (.string, .string), (.objectId, .objectId), (.uuid, .uuid): true
        default: false
        }
    }
}
