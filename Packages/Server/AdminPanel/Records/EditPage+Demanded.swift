import TomboloHTTP
import TomboloJSONAPI

extension EditPage {
    /// What the rules demand of every object that the caller makes, such as themselves as its creator: there's nothing to
    /// choose.
    var demanded: [(field: FormField, value: JSON)] {
        let values = view.demandedOnCreation(of: type)
        return fields.compactMap { field in
            guard let text = field.field.column.flatMap({ values[$0] }).flatMap({ ValueText.text($0) }) else {
                return nil
            }
            return (field, field.json(text, was: .null))
        }
    }
}
