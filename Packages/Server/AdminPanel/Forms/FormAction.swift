import TomboloHTTP

/// What a button inside a form does: the form is shown again with everything that was entered, and nothing is saved.
struct FormAction: Sendable {
    /// The buttons' name. A value consists of a verb and the place, such as `add tags` or `up tags.3`.
    static let field = "_do"

    enum Verb: String, Sendable {
        /// Appends an element.
        case add
        case remove
        case up
        case down
        /// Creates an embedded object.
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
