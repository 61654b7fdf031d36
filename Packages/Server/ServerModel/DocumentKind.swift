/// What a document contains.
public enum DocumentKind: String, Hashable, Sendable, CaseIterable {
    /// An app's classes, in the format of ``TomboloModel/ModelDocument``.
    case models
    /// Who may do what with them, in the language of docs/rules.md.
    case rules
}
