import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// A field that a form can change: converts a value to the text of a control, and input back to JSON.
struct FormField: Sendable {
    enum Control: Sendable {
        case text, longText, number, truth, time, link(target: Int)
    }

    let field: ResourceField
    let control: Control
    /// Its place in the form: the field's name, or `holds.0.label`.
    let path: String
    let title: String
    private let type: PropertyType?
    /// The texts of its allowed values; nil if its type alone restricts them.
    var fixedValues: [String]? { field.allowedValues?.values.compactMap { ValueText.text($0) } }

    /// The name of its control.
    var name: String { "f.\(path)" }
    /// The name of the hidden field with the original value. Only an object's own fields have one.
    var wasName: String { "was.\(path)" }
    /// The name of the search field for link targets.
    var searchName: String { "q.\(path)" }

    /// A field of an object.
    /// - Returns: nil for fields that don't fit into one control: lists, embedded objects and bytes.
    init?(_ field: ResourceField) { self.init(field, at: field.name) }

    /// - Parameter title: nil for the title derived from the name.
    init?(_ field: ResourceField, at path: String, title: String? = nil) {
        self.field = field
        self.path = path
        self.title = title ?? ClassTitle.words(field.name)
        switch field.content {
        case .toOne(_, let target):
            type = nil
            control = .link(target: target)
        case .value(_, let type):
            self.type = type
            switch type {
            case .bool: control = .truth
            case .int, .float, .double, .decimal128: control = .number
            case .date: control = .time
            case .string, .objectId, .uuid: control = .text
            case .data, .link, .embedded, .array, .list, .linkingObjects: return nil
            }
        case .array, .embedded, .values, .objects, .toMany: return nil
        }
    }

    /// A field of an object, or of an object embedded in it. Links of embedded objects get a chooser too, although the
    /// API represents their keys as attributes.
    /// - Parameter item: the class that has the field's column.
    init?(_ field: ResourceField, at path: String, of item: ClassSchema, _ view: CallerView) {
        guard case .value(let column, _) = field.content, let target = item.columns[column].linkTarget,
            let index = view.schema.index(of: target), view.types[index] != nil
        else {
            self.init(field, at: path)
            return
        }
        self.init(
            ResourceField(
                name: field.name, property: field.property, content: .toOne(column: column, target: index),
                isOptional: field.isOptional, hint: field.hint), at: path)
    }

    // MARK: From JSON to text

    /// The text in the control for a value of the API.
    func text(_ json: JSON) -> String {
        switch (json, control) {
        case (.null, _): return ""
        case (.string(let time), .time): return Self.localTime(time) ?? time
        default: return CellText.plain(json, truth: ("true", "false"))
        }
    }

    /// `2026-05-14T13:22:18Z` → `2026-05-14T13:22:18`, as `datetime-local` expects it; nil for what that can't
    /// represent: a year beyond 9999, or more precision than milliseconds.
    static func localTime(_ text: String) -> String? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count < 2 ? "" : parts[1].trimmingSuffix { $0 == "0" }
        guard parts[0].utf8.count == 19, fraction.utf8.count <= 3, parts[0].first != "-" else { return nil }
        return fraction.isEmpty ? String(parts[0]) : "\(parts[0]).\(fraction)"
    }

    // MARK: From text to JSON

    /// The input as JSON of the API. Invalid input stays text, so that the API refuses it with its own message.
    /// - Parameter was: the original value; null for a new object.
    func json(_ entered: String, was: JSON) -> JSON {
        // An untouched field keeps its value, including details that the control can't show.
        if entered.hasBytes(of: text(was)) { return was }
        switch control {
        case .text, .longText:
            let lines = Self.lines(entered)
            if case .string(let old) = was, Self.lines(old).hasBytes(of: lines) { return was }
            if lines.isEmpty, field.isOptional || type != .string { return .null }
            return .string(lines)
        case .truth: return entered == "true" ? .bool(true) : entered == "false" ? .bool(false) : empty(entered)
        case .number:
            let number = entered.trimmingCharacters(in: .whitespaces)
            if number.isEmpty { return .null }
            if case .decimal128? = type { return .string(number) }
            if let whole = Int64(number) { return .int(whole) }
            if let value = Double(number), value.isFinite, number.allSatisfy({ "0123456789+-.eE".contains($0) }) {
                return .double(value)
            }
            return .string(entered)
        case .time:
            if entered.isEmpty { return .null }
            if entered.hasSuffix("Z") { return .string(entered) }
            // The same moment; the original may have more digits.
            if case .string(let old) = was, let shown = Self.localTime(old), shown == entered + ":00" { return was }
            // Browsers omit seconds that are 0.
            return .string((entered.utf8.count == 16 ? entered + ":00" : entered) + "Z")
        case .link: return empty(entered)
        }
    }

    /// The text with LF line ends. Browsers send CR LF, whatever the original had.
    static func lines(_ text: String) -> String { text.replacing("\r\n", with: "\n").replacing("\r", with: "\n") }

    private func empty(_ entered: String) -> JSON { entered.isEmpty ? .null : .string(entered) }

    /// The value that a hidden field sent back.
    static func value(_ text: String?) -> JSON {
        guard let text, let json = try? JSONDecoder().decode(JSON.self, from: Data("[\(text)]".utf8)),
            case .array(let items) = json, items.count == 1
        else { return .null }
        return items[0]
    }
}
