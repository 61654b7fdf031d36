import TomboloHTTP
import TomboloModel

/// The fields of a submitted record form, by name.
struct FormValues: Sendable {
    /// The value of ``presence(_:)`` for an embedded object that exists.
    static let isThere = "yes"

    private let values: [String: String]

    init(_ form: PanelForm) {
        values = Dictionary(form.fields.map { ($0.name, $0.value) }) { first, _ in first }
    }

    subscript(name: String) -> String? { values[name] }

    /// The name of the field that says whether an embedded object exists.
    static func presence(_ path: String) -> String { "g.\(path)" }
    /// The name of the field with an element's id within its list.
    static func identity(_ path: String) -> String { "i.\(path)" }
    /// The name of the field with the number of elements of a list.
    static func count(_ path: String) -> String { "n.\(path)" }
    /// The name of the field with the object chosen to be added to a list of links.
    static func added(_ path: String) -> String { "a.\(path)" }
    /// The name of the field that has a whole list or embedded object as JSON, instead of controls.
    static func whole(_ path: String) -> String { "j.\(path)" }

    /// - Throws: ``RequestFailure`` with status 400 unless it's a number of elements that a form can have.
    func count(_ path: String) throws -> Int? {
        guard let text = values[Self.count(path)] else { return nil }
        guard let count = Int(text), (0...FormEntry.maximumElementCount).contains(count) else {
            throw RequestFailure(
                .badRequest,
                "The form doesn't say how many elements '\(path.shortened(toByteCount: 60))' has, or there are more "
                    + "than \(FormEntry.maximumElementCount).", hint: "Load the form again.")
        }
        return count
    }

    /// The values of one kind of field, by the place that they're about.
    func all(_ name: (String) -> String) -> [String: String] {
        let prefix = name("")
        return Dictionary(
            values.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty }
                .map { (String($0.key.dropFirst(prefix.utf8.count)), $0.value) }
        ) { first, _ in first }
    }
}
