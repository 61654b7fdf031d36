public import TomboloModel

/// What an app provides to a database: its models, its rules, or both.
public struct AppDocuments: Hashable, Sendable {
    public let app: String
    /// Nil keeps the database's models.
    public let models: ModelDocument?
    /// YAML or JSON. Nil keeps the database's rules.
    public let rules: String?

    public init(models: ModelDocument, rules: String? = nil) {
        app = models.app
        self.models = models
        self.rules = rules
    }

    public init(app: String, rules: String) {
        self.app = app
        models = nil
        self.rules = rules
    }
}
