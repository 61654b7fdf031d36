/// Why a server has no model.
public enum ServerModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The database has no Tombolo tables.
    case notMigrated
    /// The documents contradict each other, or one of them can't be read. Each problem names its document.
    case invalid(problems: [String])

    public var description: String {
        switch self {
        case .notMigrated: "The database has no Tombolo tables yet. Run 'migration-tool apply'."
        case .invalid(let problems):
            "The documents in the database don't form a model:\n" + problems.map { "- \($0)" }.joined(separator: "\n")
        }
    }
}
