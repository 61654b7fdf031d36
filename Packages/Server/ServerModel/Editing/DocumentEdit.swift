/// Documents that somebody wants an app to have from now on.
public struct DocumentEdit: Hashable, Sendable {
    public let app: String
    /// JSON; nil leaves the models.
    public let models: String?
    /// YAML or JSON; nil leaves the rules.
    public let rules: String?
    /// The account that asks for it.
    public let account: String

    public init(app: String, models: String?, rules: String?, account: String) {
        self.app = app
        self.models = models
        self.rules = rules
        self.account = account
    }
}
