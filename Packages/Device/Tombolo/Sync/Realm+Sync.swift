internal import TomboloModel

extension Realm {
    /// What keeps the file and the server in step; nil for a local Realm.
    public var syncSession: SyncSession? { core.syncSession }

    /// What the Realm subscribes to. Traps for a local Realm.
    public var subscriptions: SyncSubscriptionSet {
        guard let session = core.syncSession else {
            preconditionFailure("A local Realm has no subscriptions: open it with user.flexibleSyncConfiguration().")
        }
        return SyncSubscriptionSet(realm: self, session: session)
    }
}
