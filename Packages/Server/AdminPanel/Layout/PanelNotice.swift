/// What the next page tells somebody of what they did.
public struct PanelNotice: Codable, Sendable {
    /// How to take it back: a form that the notice has.
    public struct Undo: Codable, Sendable {
        /// What the button says.
        let label: String
        /// An action's address.
        let path: String
        var fields: [String: String] = [:]

        public init(label: String, path: String, fields: [String: String] = [:]) {
            self.label = label
            self.path = path
            self.fields = fields
        }
    }

    let text: String
    var undo: Undo?

    public init(_ text: String, undo: Undo? = nil) {
        self.text = text
        self.undo = undo
    }
}
