internal import TomboloSQLiteStore

/// The commits by others that were already reported to a listener that doesn't refresh. Further commits are reported
/// once, however often the file is checked.
struct CommitNews {
    private var told: UInt32?

    /// Whether there are commits to report. Marks them as reported.
    mutating func isNew(_ standing: ChangeLog.Standing) -> Bool {
        switch standing {
        case .newest: return false
        case .behind(let count):
            defer { told = count }
            return count != told
        case .unknown: return true
        }
    }
}
