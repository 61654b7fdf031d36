import EventModels
package import TomboloModel

/// A row under construction, with properties named as in the model class.
package struct RowDraft {
    private let item: ClassSchema
    package private(set) var row: Row

    /// - Parameter name: a class of the event models, or an element class.
    package init(_ name: String, _ key: ObjectId) {
        guard let item = EventModels.schema[name] else {
            preconditionFailure("The event models have no class \(name).")
        }
        self.item = item
        row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
        self["_id"] = .objectId(key)
    }

    package subscript(property: String) -> Value {
        get { row[position(property)] }
        set { row[position(property)] = newValue }
    }

    private func position(_ property: String) -> Int {
        guard let index = item.columnIndex(property) else {
            preconditionFailure("\(item.name) has no property \(property).")
        }
        return index
    }
}

extension Value {
    package static func optional(_ text: String?) -> Value { text.map { .string($0) } ?? .null }
    package static func optional(_ number: Int?) -> Value { number.map { .int(Int64($0)) } ?? .null }
    package static func optional(_ number: Double?) -> Value { number.map { .double($0) } ?? .null }
    package static func optional(date microseconds: Int64?) -> Value { microseconds.map { .date($0) } ?? .null }
    package static func optional(_ key: ObjectId?) -> Value { key.map { .objectId($0) } ?? .null }
}
