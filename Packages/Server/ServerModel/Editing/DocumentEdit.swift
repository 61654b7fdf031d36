/// New documents for an app.
public struct DocumentEdit: Hashable, Sendable {
    public let app: String
    /// JSON, or nil to keep the models.
    public let models: String?
    /// YAML or JSON, or nil to keep the rules.
    public let rules: String?
    /// The account that asked for the edit.
    public let account: String

    public init(app: String, models: String?, rules: String?, account: String) {
        self.app = app
        self.models = models
        self.rules = rules
        self.account = account
    }
}
