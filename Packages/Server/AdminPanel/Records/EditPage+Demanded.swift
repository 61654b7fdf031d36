import TomboloHTTP
import TomboloJSONAPI

extension EditPage {
    /// Values that the rules demand of every object that the caller creates, such as the caller as its creator. The
    /// form offers no choice for them.
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
