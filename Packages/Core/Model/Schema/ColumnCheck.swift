/// A fast path for ``Column/validate(_:linkKeyType:)``, for stores that check many values of a column.
package enum ColumnCheck: Sendable {
    case bool, integer, double, text, date, objectId, uuid
    /// Decided by the column.
    case other

    package init(_ column: Column) {
        self =
            switch column.type {
            case .bool: .bool
            case .int(bits: 64): .integer
            case .double, .float: .double
            case .string: .text
            case .date: .date
            case .objectId: .objectId
            case .uuid: .uuid
            default: .other
            }
    }

    /// Whether the column certainly accepts the value. If this returns false, ask the column itself.
    package func passes(_ value: Value) -> Bool {
        switch (self, value) {
        case (.bool, .bool), (.integer, .int), (.objectId, .objectId), (.uuid, .uuid): true
        case (.double, .double(let number)): !number.isNaN
        case (.date, .date(let microseconds)): Value.dateRange.contains(microseconds)
        case (.text, .string(let text)): text.utf8.count <= Value.maximumByteCount && !text.containsNull
        default: false
        }
    }
}
