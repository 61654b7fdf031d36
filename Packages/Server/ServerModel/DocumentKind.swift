/// What a document says.
public enum DocumentKind: String, Hashable, Sendable, CaseIterable {
    /// An app's classes, as ``TomboloModel/ModelDocument`` writes them.
    case models
    /// Who may do what with them, in the language of docs/rules.md.
    case rules
}
