import TomboloHTTP

/// What a button inside a form does to it: the form comes back with what was entered, and nothing is saved.
struct FormAction: Sendable {
    /// The buttons' name; a value is a verb and the place, `add tags` or `up tags.3`.
    static let field = "_do"

    enum Verb: String, Sendable {
        /// Puts an element behind the others.
        case add
        case remove
        case up
        case down
        /// Makes an embedded object.
        case set
        case clear
    }

    let verb: Verb
    let path: [Substring]

    init?(_ text: String?) {
        guard let parts = text?.split(separator: " ", maxSplits: 1), parts.count == 2,
            let verb = Verb(rawValue: String(parts[0]))
        else { return nil }
        self.verb = verb
        path = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    }

    static func value(_ verb: Verb, _ path: String) -> String { "\(verb.rawValue) \(path)" }
}
