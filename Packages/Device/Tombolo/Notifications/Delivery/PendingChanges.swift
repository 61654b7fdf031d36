internal import TomboloSQLiteStore

/// What changed while a Realm moved from one version to another.
struct PendingChanges {
    /// Nil where everything may have changed.
    var changes: ChangeSet?
    /// Whether a write transaction of the Realm itself is among the causes.
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
