/// A row of `tombolo.document`: the models or rules of one app from this version on.
public struct StoredDocument: Hashable, Sendable {
    /// Increases with every document of any app.
    public let version: Int64
    public let app: String
    public let kind: DocumentKind
    /// The text as it was written: JSON for models, YAML or JSON for rules.
    public let content: String

    public init(version: Int64, app: String, kind: DocumentKind, content: String) {
        self.version = version
        self.app = app
        self.kind = kind
        self.content = content
    }

    /// For messages: `models of listings (version 12)`.
    public var name: String { "\(kind.rawValue) of \(app) (version \(version))" }
}
