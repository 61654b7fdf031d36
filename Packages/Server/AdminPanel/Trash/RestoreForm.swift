import AdminService
import TomboloHTTP
import TomboloModel

/// What a restore form says about clashes: for each object, `choice-ADDRESS` is values, leave or swap, and
/// `value-ADDRESS-PROPERTY` is a new value.
struct RestoreForm: Sendable {
    /// Keyed by name as `Value.string`, since the addresses in it are compared by their bytes.
    private let values: [Value: String]

    init(_ fields: [PanelForm.Field]) {
        values = Dictionary(fields.map { (.string($0.name), $0.value) }) { first, _ in first }
    }

    subscript(name: String) -> String? { values[.string(name)] }

    /// The fields whose names begin with a prefix, along with the rest of their names.
    private func fields(beginningWith start: String) -> [(rest: String, value: String)] {
        values.compactMap { name, value in
            let bytes = name.keyText.utf8
            guard bytes.starts(with: start.utf8) else { return nil }
            return String(bytes.dropFirst(start.utf8.count)).map { ($0, value) }
        }
    }

    /// - Throws: ``RequestFailure`` with status 422 for a form that the page can't have sent.
    func wishes(_ schema: Schema) throws -> RestoreWishes {
        var wishes = RestoreWishes()
        for (address, choice) in fields(beginningWith: "choice-") {
            guard let id = try? TrashAddress(address) else {
                throw RequestFailure(.unprocessable, "The form names an invalid object.")
            }
            switch choice {
            case "leave": wishes.leave.insert(id)
            case "swap": wishes.swap.insert(id)
            case "values": wishes.values[id] = values(of: id, schema)
            default: throw RequestFailure(.unprocessable, "The form has an invalid choice.")
            }
        }
        return wishes
    }

    /// The new values for an object. The page asks only for unique properties; the restore refuses others, and invalid
    /// values.
    private func values(of id: TrashAddress, _ schema: Schema) -> [String: JSON] {
        var values: [String: JSON] = [:]
        // An empty field asks for nothing.
        for (property, text) in fields(beginningWith: "value-\(id.text)-") where !text.isEmpty {
            // Another object's address may begin with this one.
            guard !property.contains("-") else { continue }
            let types = schema.classes.compactMap { item in
                item.isTrashable ? item.columnIndex(property).map { item.columns[$0].type } : nil
            }
            values[property] =
                if types.contains(where: { if case .int = $0 { true } else { false } }), let number = Int64(text) {
                    .int(number)
                } else if types.contains(.double), let number = Double(text), number.isFinite {
                    .double(number)
                } else {
                    .string(text)
                }
        }
        return values
    }
}
