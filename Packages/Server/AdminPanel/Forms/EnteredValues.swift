import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// What somebody entered into the form of a record that isn't saved, for them to copy: what they changed, and of a new object
/// what isn't empty. It's what the form says, so that it takes no right to see the object.
struct EnteredValues: Sendable {
    struct Value: Sendable {
        /// The name of the field, and places inside of it: `holds`, `0`, `label`.
        let path: [String]
        let text: String

        /// `Holds 1, Label`
        var label: String {
            var parts: [String] = []
            for name in path {
                if let place = Int(name), (0..<FormEntry.maximumElementCount).contains(place) {
                    parts.append("\(parts.popLast() ?? localized("Row")) \(place + 1)")
                } else {
                    parts.append(ClassTitle.words(name))
                }
            }
            return parts.joined(separator: ", ")
        }
    }

    let all: [Value]

    init(_ form: PanelForm) {
        let values = FormValues(form)
        func was(_ path: String) -> JSON? { values["was.\(path)"].map { FormField.value($0) } }
        let entered = form.fields.filter { $0.name.hasPrefix("f.") }.map { field in
            Value(path: field.name.split(separator: ".").dropFirst().map(String.init), text: field.value)
        }
        let groups = Dictionary(grouping: entered) { $0.path.first ?? "" }
        all = entered.filter { value in
            if let was = was(value.path.joined(separator: ".")) { return !Self.isShown(was, as: value.text) }
            if let root = value.path.first, value.path.count > 1, case .array(let items)? = was(root),
                let group = groups[root], group.count == items.count
            {
                return !zip(items, group).allSatisfy { Self.isShown($0, as: $1.text) }
            }
            return !value.text.isEmpty
        }
    }

    /// Whether a control that nobody touched has the text for a value.
    private static func isShown(_ json: JSON, as text: String) -> Bool {
        switch json {
        case .null: text.isEmpty
        case .string(let was):
            was.replacing("\r\n", with: "\n") == text.replacing("\r\n", with: "\n")
                || FormField.localTime(was).map { $0 == text || $0 == text + ":00" } ?? false
        default: CellText.plain(json, truth: ("true", "false")) == text
        }
    }

    /// For a template: `label` and `text`, of links the title of what they lead to, if the caller may see that.
    /// - Parameter type: the class of the record; nil if it isn't known.
    func shown(_ type: ResourceType?, _ reader: RecordReader) async -> [[String: Any]] {
        var titles: [String: [String: String]] = [:]
        for (name, values) in Dictionary(grouping: all, by: { $0.path.first ?? "" }) {
            guard let index = type?.field(name)?.target, let target = reader.view.types[index] else { continue }
            // The page is about something else that went wrong: without titles it has the ids.
            let choices = (try? await reader.choices(of: target, among: values.map(\.text))) ?? []
            titles[name] = Dictionary(choices.map { ($0.id, $0.title) }) { first, _ in first }
        }
        return all.map { value in
            ["label": value.label, "text": titles[value.path.first ?? ""]?[value.text] ?? value.text]
        }
    }
}
