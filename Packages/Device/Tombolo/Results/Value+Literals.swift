internal import TomboloModel

extension Value {
    /// Whether the value is of a primary key's type, within its range or not.
    func isKey(of type: PropertyType) -> Bool {
        switch (self, type) {
        case (.int, .int), (.string, .string), (.objectId, .objectId), (.uuid, .uuid): true
        default: false
        }
    }
}
