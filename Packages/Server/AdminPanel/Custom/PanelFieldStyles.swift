import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The styles of an app's fields, by class and property.
struct PanelFieldStyles: Sendable {
    /// The name under which page templates find the app's own rendering of a value or a control.
    static let valueName = "customHTML"
    /// The values from which the template `control` makes one of the panel's own controls.
    private static let usualControls = ["text", "longText", "number", "time", "hasOptions", "options"]

    private let styles: [String: [String: PanelFieldStyle]]

    init(_ styles: [PanelFieldStyle]) {
        self.styles = Dictionary(grouping: styles, by: \.className).mapValues { styles in
            Dictionary(styles.map { ($0.property, $0) }) { $1 }
        }
    }

    private func style(_ field: ResourceField, of type: ResourceType) -> PanelFieldStyle? {
        styles.isEmpty ? nil : styles[type.item.name]?[field.property]
    }

    /// Whether the app renders this field's values itself.
    func isShown(_ field: ResourceField, of type: ResourceType) -> Bool { style(field, of: type)?.shown != nil }

    /// Adds the app's rendering of a value. A missing value, or one that is too long to be shown, is shown as usual.
    /// - Parameter values: the values for the panel's own rendering.
    func show(
        _ json: JSON?, _ field: ResourceField, of type: ResourceType, isList: Bool, _ values: inout [String: Any]
    ) {
        guard let style = style(field, of: type), let template = style.shown, let json, json != .null,
            let more = style.values(json)
        else { return }
        let own: [String: Any] = [
            "value": FormField(field)?.text(json) ?? CellText.plain(json), "text": values["text"] ?? "",
            "label": ClassTitle.words(field.name), "isList": isList,
        ]
        let html = template.render(more.merging(own) { $1 })
        if !html.isNull { values[Self.valueName] = html }
    }

    /// Replaces the panel's control with the app's.
    /// - Parameter values: the values for the template `control`.
    func control(
        _ field: FormField, _ entered: String, of type: ResourceType, isCell: Bool, _ values: inout [String: Any]
    ) {
        guard let style = style(field.field, of: type), let template = style.control else { return }
        var own = values
        own["isCell"] = isCell
        own["problem"] = (values["wrong"] as? [[String: String]])?.compactMap { $0["text"] }.joined(separator: " ")
        let more = style.values(field.json(entered, was: .null)) ?? [:]
        for name in Self.usualControls { values[name] = nil }
        values[Self.valueName] = template.render(more.merging(own) { $1 })
    }

    /// Warnings about styles for properties that the model doesn't have.
    func warnings(_ schema: Schema) -> [String] {
        styles.values.flatMap(\.values).compactMap { style in
            guard let item = schema[style.className] else {
                return "There is no class '\(style.className)', so the style of '\(style.property)' isn't used."
            }
            let names = item.columns.map(\.name) + item.lists.map(\.name)
            guard !names.contains(style.property) else { return nil }
            let hint = style.property.nearest(in: names).map { " Did you mean '\($0)'?" } ?? ""
            return "\(style.className) has no property '\(style.property)', so its style isn't used.\(hint)"
        }.sorted()
    }
}

extension AdminPanel {
    /// Problems of the additions with the current model, to be logged. They aren't errors: the model may get the
    /// missing class later.
    public var warnings: [String] { core.fieldStyles.warnings(core.rules.current.schema) }
}
