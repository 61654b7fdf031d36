internal import TomboloSQLiteStore

/// What changed while a Realm moved from one version to another.
struct PendingChanges {
    /// The changes, or nil if everything may have changed.
    var changes: ChangeSet?
    /// Whether the Realm's own write transaction is among the causes.
    var isOwn: Bool

    mutating func merge(_ later: PendingChanges) {
        isOwn = isOwn || later.isOwn
        guard let added = later.changes else {
            changes = nil
            return
        }
        changes?.merge(added)
    }
}
