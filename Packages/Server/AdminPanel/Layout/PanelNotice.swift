/// What the next page tells somebody of what they did.
struct PanelNotice: Codable, Sendable {
    /// How to take it back: a form that the notice has.
    struct Undo: Codable, Sendable {
        /// What the button says.
        let label: String
        /// An action's address.
        let path: String
        var fields: [String: String] = [:]
    }

    let text: String
    var undo: Undo?

    init(_ text: String, undo: Undo? = nil) {
        self.text = text
        self.undo = undo
    }
}
