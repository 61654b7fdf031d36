public import TomboloModel

/// What an app brings to a database: its models, its rules, or both.
public struct AppDocuments: Hashable, Sendable {
    public let app: String
    /// Nil leaves the models that the database has.
    public let models: ModelDocument?
    /// In YAML or JSON. Nil leaves the rules that the database has.
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
