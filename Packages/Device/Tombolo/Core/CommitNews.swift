internal import TomboloSQLiteStore

/// Which commits of others somebody was told about who does not move on to them: each time there are more is told once,
/// however often the file is looked at.
struct CommitNews {
    private var told: UInt32?

    /// Whether there are commits to tell about; they count as told then.
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
