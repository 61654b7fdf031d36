internal import TomboloModel

extension Realm {
    /// The session that synchronises the file with the server; nil for a local Realm.
    public var syncSession: SyncSession? { core.syncSession }

    /// The Realm's subscriptions. Stops the program for a local Realm.
    public var subscriptions: SyncSubscriptionSet {
        guard let session = core.syncSession else {
            preconditionFailure("A local Realm has no subscriptions: open it with user.flexibleSyncConfiguration().")
        }
        return SyncSubscriptionSet(realm: self, session: session)
    }
}
