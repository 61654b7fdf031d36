import TomboloHTTP
import TomboloModel

/// The fields of a record's form that was sent, by name.
struct FormValues: Sendable {
    /// The value of ``presence(_:)`` of an embedded object that is there.
    static let isThere = "yes"

    private let values: [String: String]

    init(_ form: PanelForm) {
        values = Dictionary(form.fields.map { ($0.name, $0.value) }) { first, _ in first }
    }

    subscript(name: String) -> String? { values[name] }

    /// Whether an embedded object is there.
    static func presence(_ path: String) -> String { "g.\(path)" }
    /// Which element of a list it is.
    static func identity(_ path: String) -> String { "i.\(path)" }
    /// How many elements a list has.
    static func count(_ path: String) -> String { "n.\(path)" }
    /// What is chosen to be added to a list of links.
    static func added(_ path: String) -> String { "a.\(path)" }
    /// The value of a whole list or embedded object as JSON, instead of controls.
    static func whole(_ path: String) -> String { "j.\(path)" }

    /// - Throws: ``RequestFailure`` with status 400 for anything but a number of elements that a form can have.
    func count(_ path: String) throws -> Int? {
        guard let text = values[Self.count(path)] else { return nil }
        guard let count = Int(text), (0...FormEntry.maximumElementCount).contains(count) else {
            throw RequestFailure(
                .badRequest,
                "The form doesn't say how many elements '\(path.shortened(toByteCount: 60))' has, or they're more than "
                    + "\(FormEntry.maximumElementCount).", hint: "Load the form again.")
        }
        return count
    }

    /// What fields of a kind say, by the place that they're about.
    func all(_ name: (String) -> String) -> [String: String] {
        let prefix = name("")
        return Dictionary(
            values.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty }
                .map { (String($0.key.dropFirst(prefix.utf8.count)), $0.value) }
        ) { first, _ in first }
    }
}
