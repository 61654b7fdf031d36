internal import TomboloModel

extension Value {
    /// Whether the value has a primary key's type, even if it's out of that type's range.
    func isKey(of type: PropertyType) -> Bool {
        switch (self, type) {
        case (.int, .int), (.string, .string), (.objectId, .objectId), (.uuid, .uuid): true
        default: false
        }
    }
}
