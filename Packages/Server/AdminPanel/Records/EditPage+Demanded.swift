import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension EditPage {
    /// What the rules demand of every object that the caller makes, such as themselves as its creator: there's nothing to
    /// choose.
    var demanded: [(field: FormField, value: JSON)] {
        let all = Resource.objects(classIndex: type.classIndex)
        guard let filter = try? view.rules.authorize(view.subject, .create, all).get() else { return [] }
        return fields.compactMap { field in
            guard let column = field.field.column,
                let text = filter.demanded(type.item.columns[column].name).flatMap({ ValueText.text($0) })
            else { return nil }
            return (field, field.json(text, was: .null))
        }
    }
}

extension Predicate {
    /// The one value of a property with which the condition can hold; nil if there may be others.
    fileprivate func demanded(_ property: String) -> Value? {
        switch self {
        case .compare(PropertyPath(property), .equal, let value): value
        case .and(let parts): parts.lazy.compactMap { $0.demanded(property) }.first
        default: nil
        }
    }
}
