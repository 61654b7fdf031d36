public import TomboloHTTP

/// How one property of a class is shown on pages of records and in lists, and how it's edited in forms. The rules decide as ever
/// whether somebody sees it and may change it, and what is entered is read and checked as for any other control.
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
    ///   - property: one with a value, or with a list of values; not a link. In forms only one with a single value.
    ///   - shown: makes what is shown of a value. It has `value` as a form has it, `text` as the panel shows it, `label`, and
    ///     `isList` in lists, whose texts may be shortened; nil to show values as usual.
    ///   - control: makes the control alone, with `id`, `name`, `value`, and `{{> described}}` within its tag; what is around it,
    ///     such as the label and messages, the panel makes. It has `label`, `isRequired`, `isCell` in a row of a table, `problem`
    ///     if there is one, and `options` of an enumeration, each with `value`, `title` and `isChosen`; nil for the usual one.
    ///   - values: what the templates have besides, of a value as JSON:API has it. Nil shows that value as usual.
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
