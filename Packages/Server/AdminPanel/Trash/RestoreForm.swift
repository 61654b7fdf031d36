import AdminService
import TomboloHTTP
import TomboloModel

/// What the form of a restore says about clashes: for each object `choice-ADDRESS` is values, leave or swap, and
/// `value-ADDRESS-PROPERTY` a new value.
struct RestoreForm: Sendable {
    /// By name: a text, since addresses are compared by their bytes.
    private let values: [Value: String]

    init(_ fields: [PanelForm.Field]) {
        values = Dictionary(fields.map { (.string($0.name), $0.value) }) { first, _ in first }
    }

    subscript(name: String) -> String? { values[.string(name)] }

    /// The fields whose names begin with a text, with what comes after it.
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
                throw RequestFailure(.unprocessable, "The form names an object that isn't one.")
            }
            switch choice {
            case "leave": wishes.leave.insert(id)
            case "swap": wishes.swap.insert(id)
            case "values": wishes.values[id] = values(of: id, schema)
            default: throw RequestFailure(.unprocessable, "The form has a choice that isn't one.")
            }
        }
        return wishes
    }

    /// Only unique properties are ever asked for; the restore refuses others, and text that isn't a value of theirs.
    private func values(of id: TrashAddress, _ schema: Schema) -> [String: JSON] {
        var values: [String: JSON] = [:]
        // A field that is left empty asks for nothing.
        for (property, text) in fields(beginningWith: "value-\(id.text)-") where !text.isEmpty {
            // The address of another object may begin like this one.
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
