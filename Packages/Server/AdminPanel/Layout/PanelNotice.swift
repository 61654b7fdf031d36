/// Tells users on the next page what their action did.
public struct PanelNotice: Codable, Sendable {
    /// How to undo it: the notice shows this as a form.
    public struct Undo: Codable, Sendable {
        /// The label of the button.
        let label: String
        /// The address of an action.
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
