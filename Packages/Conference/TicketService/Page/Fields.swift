import TomboloModel

/// A row with its class, read by property name.
struct Fields: Sendable {
    let row: Row
    let item: ClassSchema

    subscript(property: String) -> Value { item.columnIndex(property).map { row[$0] } ?? .null }

    func text(_ property: String) -> String? {
        if case .string(let value) = self[property] { value } else { nil }
    }

    func int(_ property: String) -> Int64? {
        if case .int(let value) = self[property] { value } else { nil }
    }

    /// Microseconds since 1970.
    func microseconds(_ property: String) -> Int64? {
        if case .date(let value) = self[property] { value } else { nil }
    }
}
