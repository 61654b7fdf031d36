/// A row of an answer's data, by column.
struct Cells {
    private var values: [String: JSON] = [:]

    init(_ row: JSON) {
        guard case .object(let members) = row else { return }
        for member in members { values[member.name] = member.value }
    }

    /// A cell as text. Arrays and objects are written as JSON.
    subscript(column: String) -> String {
        guard let value = values[column], value != .null else { return "" }
        return value.string ?? value.text
    }
}
