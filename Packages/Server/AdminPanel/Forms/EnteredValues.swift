import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// What somebody entered into the form of a record that wasn't saved, so that they can copy it: the values they
/// changed, and for a new object all that aren't empty. It's taken from the form alone, so it doesn't require the right
/// to see the object.
struct EnteredValues: Sendable {
    struct Value: Sendable {
        /// The name of the field, followed by the path inside it: `holds`, `0`, `label`.
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
        // Each original value is parsed only once: it may be long, and thousands of the form's fields may belong to it.
        let was = FormValues(form).all { "was.\($0)" }.mapValues { FormField.value($0) }
        let untouched = was.mapValues(Self.untouchedTexts)
        let entered = form.fields.filter { $0.name.hasPrefix("f.") }.map { field in
            Value(path: field.name.split(separator: ".").dropFirst().map(String.init), text: field.value)
        }
        var changedLists: [String: Bool] = [:]
        for (root, group) in Dictionary(grouping: entered, by: { $0.path.first ?? "" }) {
            guard case .array(let items)? = was[root], group.count == items.count else { continue }
            changedLists[root] = zip(items, group).contains { item, value in
                !Self.untouchedTexts(item).contains(.string(FormField.lines(value.text)))
            }
        }
        all = entered.filter { value in
            if let texts = untouched[value.path.joined(separator: ".")] {
                return !texts.contains(.string(FormField.lines(value.text)))
            }
            let list = value.path.count > 1 ? value.path.first : nil
            return list.flatMap { changedLists[$0] } ?? !value.text.isEmpty
        }
    }

    /// The texts that an untouched control may send for a value. They are compared by their bytes.
    private static func untouchedTexts(_ json: JSON) -> Set<TomboloModel.Value> {
        switch json {
        case .null: return [.string("")]
        case .string(let text):
            var texts: Set<TomboloModel.Value> = [.string(FormField.lines(text))]
            if let time = FormField.localTime(text) {
                texts.insert(.string(time))
                if time.hasSuffix(":00") { texts.insert(.string(String(time.dropLast(3)))) }
            }
            return texts
        default: return [.string(FormField.lines(CellText.plain(json, truth: ("true", "false"))))]
        }
    }

    /// The values for a template: `label` and `text`. A link's text is its target's title if the caller may see it.
    /// - Parameter type: the class of the record; nil if it isn't known.
    func shown(_ type: ResourceType?, _ reader: RecordReader) async -> [[String: Any]] {
        // The page reports another failure, such as a slow database, and has no time limit of its own. If the titles
        // take too long, it shows ids.
        let titles = (try? await ResourceReader.patiently { await self.titles(type, reader) }) ?? [:]
        return all.map { value in
            ["label": value.label, "text": titles[value.path.first ?? ""]?[value.text] ?? value.text]
        }
    }

    /// The titles that could be read, by field and id.
    private func titles(_ type: ResourceType?, _ reader: RecordReader) async -> [String: ChoiceTitles] {
        var titles: [String: ChoiceTitles] = [:]
        for (name, values) in Dictionary(grouping: all, by: { $0.path.first ?? "" }) {
            guard let index = type?.field(name)?.target, let target = reader.view.types[index] else { continue }
            let choices = (try? await reader.choices(of: target, among: values.map(\.text))) ?? []
            titles[name] = ChoiceTitles(choices)
        }
        return titles
    }
}
