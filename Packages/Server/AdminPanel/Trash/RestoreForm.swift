import AdminService
import TomboloHTTP
import TomboloModel

/// What the form of a restore says about clashes: for each object `choice-ADDRESS` is values, leave or swap, and
/// `value-ADDRESS-PROPERTY` a new value.
enum RestoreForm {
    /// - Throws: ``RequestFailure`` with status 422 for a form that the page can't have sent.
    static func wishes(_ form: [String: String], _ schema: Schema) throws -> RestoreWishes {
        var wishes = RestoreWishes()
        for (name, choice) in form where name.hasPrefix("choice-") {
            guard let id = try? TrashAddress(String(name.dropFirst("choice-".count))) else {
                throw RequestFailure(.unprocessable, "The form names an object that isn't one.")
            }
            switch choice {
            case "leave": wishes.leave.insert(id)
            case "swap": wishes.swap.insert(id)
            case "values": wishes.values[id] = values(of: id, form, schema)
            default: throw RequestFailure(.unprocessable, "The form has a choice that isn't one.")
            }
        }
        return wishes
    }

    /// Only unique properties are ever asked for; the restore refuses others, and text that isn't a value of theirs.
    private static func values(of id: TrashAddress, _ form: [String: String], _ schema: Schema) -> [String: JSON] {
        let prefix = "value-\(id.text)-"
        var values: [String: JSON] = [:]
        // A field that is left empty asks for nothing.
        for (name, text) in form where name.hasPrefix(prefix) && !text.isEmpty {
            let property = String(name.dropFirst(prefix.count))
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
