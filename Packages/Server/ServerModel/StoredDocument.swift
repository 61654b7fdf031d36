/// A row of `tombolo.document`: what one app's models or rules were from then on.
public struct StoredDocument: Hashable, Sendable {
    /// Grows with every document of every app.
    public let version: Int64
    public let app: String
    public let kind: DocumentKind
    /// As it was written: JSON for models, YAML or JSON for rules.
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
