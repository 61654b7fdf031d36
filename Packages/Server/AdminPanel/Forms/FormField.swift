import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// A field that a form can change: how its value stands in a control, and how what was entered becomes JSON again.
struct FormField: Sendable {
    enum Control: Sendable {
        case text, longText, number, truth, time, link(target: Int)
    }

    let field: ResourceField
    let control: Control
    /// Its place in the form: its name, or `holds.0.label`.
    let path: String
    let title: String
    private let type: PropertyType?
    /// The texts of the values that it can have; nil for all of its type.
    var fixedValues: [String]? { field.allowedValues?.values.compactMap { ValueText.text($0) } }

    /// The name of its control in a form.
    var name: String { "f.\(path)" }
    /// The name of the hidden field with the value that was read, of the field of an object.
    var wasName: String { "was.\(path)" }
    /// The name of the search for what a link leads to.
    var searchName: String { "q.\(path)" }

    /// A field of an object.
    /// - Returns: nil for what isn't one control: lists, embedded objects and bytes.
    init?(_ field: ResourceField) { self.init(field, at: field.name) }

    /// - Parameter title: nil for the one that follows from the name.
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

    /// A field of an object, or of one inside of it. Links of embedded objects are chosen too, although the API has their
    /// keys as attributes.
    /// - Parameter item: the class that has its column.
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

    // MARK: Out

    /// What stands in the control for a value of the API.
    func text(_ json: JSON) -> String {
        switch (json, control) {
        case (.null, _): return ""
        case (.string(let time), .time): return Self.localTime(time) ?? time
        default: return CellText.plain(json, truth: ("true", "false"))
        }
    }

    /// `2026-05-14T13:22:18Z` → `2026-05-14T13:22:18`, as `datetime-local` wants it; nil for what that can't hold: a year
    /// beyond 9999, or more than milliseconds.
    static func localTime(_ text: String) -> String? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count < 2 ? "" : parts[1].trimmingSuffix { $0 == "0" }
        guard parts[0].utf8.count == 19, fraction.utf8.count <= 3, parts[0].first != "-" else { return nil }
        return fraction.isEmpty ? String(parts[0]) : "\(parts[0]).\(fraction)"
    }

    // MARK: In

    /// What was entered, as JSON of the API. What can't be one stays text, which the API refuses with its own words.
    /// - Parameter was: the value that was read; null for a new object.
    func json(_ entered: String, was: JSON) -> JSON {
        // What nobody touched is what it was, down to what a control can't show.
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
            // The same moment, which the value may have written with more digits.
            if case .string(let old) = was, let shown = Self.localTime(old), shown == entered + ":00" { return was }
            // Browsers leave seconds out if they are 0.
            return .string((entered.utf8.count == 16 ? entered + ":00" : entered) + "Z")
        case .link: return empty(entered)
        }
    }

    /// A text whose lines end with LF. Browsers send CR LF, whatever ended them before.
    static func lines(_ text: String) -> String { text.replacing("\r\n", with: "\n").replacing("\r", with: "\n") }

    private func empty(_ entered: String) -> JSON { entered.isEmpty ? .null : .string(entered) }

    /// The value that a hidden field brought back.
    static func value(_ text: String?) -> JSON {
        guard let text, let json = try? JSONDecoder().decode(JSON.self, from: Data("[\(text)]".utf8)),
            case .array(let items) = json, items.count == 1
        else { return .null }
        return items[0]
    }
}
