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
        // Each is read once: a form may have thousands of fields about one value, and that value be long.
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

    /// What a control that nobody touched may say for a value, as texts: they are compared by their bytes.
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

    /// For a template: `label` and `text`, of links the title of what they lead to, if the caller may see that.
    /// - Parameter type: the class of the record; nil if it isn't known.
    func shown(_ type: ResourceType?, _ reader: RecordReader) async -> [[String: Any]] {
        // The page is about something else that went wrong, such as a database that is slow, and no route limits its time: without
        // titles it has the ids.
        let titles = (try? await ResourceReader.patiently { await self.titles(type, reader) }) ?? [:]
        return all.map { value in
            ["label": value.label, "text": titles[value.path.first ?? ""]?[value.text] ?? value.text]
        }
    }

    /// By field and id, of what can be read.
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
