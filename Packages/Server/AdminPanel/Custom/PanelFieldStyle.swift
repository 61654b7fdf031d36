public import TomboloHTTP

/// How one property of a class is shown on record pages and in lists, and how it's edited in forms. The rules still
/// decide who may see and change it. Input is parsed and checked as for any other control.
///
///     PanelFieldStyle(
///         "Task", "progress",
///         shown: PanelTemplate(#"<progress value="{{value}}" max="100">{{text}}</progress>"#))
public struct PanelFieldStyle: Sendable {
    let className: String
    let property: String
    let shown: PanelTemplate?
    let control: PanelTemplate?
    let values: @Sendable (JSON) -> [String: Any]?

    /// - Parameters:
    ///   - property: a property with a value or a list of values, but not a link. Only single values can be styled in forms.
    ///   - shown: renders a value. The template gets `value` as in a form, `text` as the panel shows it, `label`, and `isList`,
    ///     which is true in lists, where texts may be shortened. Nil shows values as usual.
    ///   - control: renders the control alone, with `id`, `name`, `value`, and `{{> described}}` within its tag; the panel adds
    ///     the label and messages. The template also gets `label`, `isRequired`, `isCell` in a row of a table, `problem` if there
    ///     is one, and for an enumeration `options`, each with `value`, `title` and `isChosen`. Nil uses the usual control.
    ///   - values: further values for the templates, derived from a value in JSON:API form. Nil shows that value as usual.
    public init(
        _ className: String, _ property: String, shown: PanelTemplate? = nil, control: PanelTemplate? = nil,
        values: @escaping @Sendable (JSON) -> [String: Any]? = { _ in [:] }
    ) {
        self.className = className
        self.property = property
        self.shown = shown
        self.control = control
        self.values = values
    }
}
