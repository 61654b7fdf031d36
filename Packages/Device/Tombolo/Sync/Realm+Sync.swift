internal import TomboloModel

extension Realm {
    /// The session that synchronises the file with the server; nil for a local Realm.
    public var syncSession: SyncSession? { core.syncSession }

    /// The Realm's newest subscriptions. Stops the program if the Realm is local or synchronises a partition, or if the
    /// file can't be read.
    public var subscriptions: SyncSubscriptionSet {
        do {
            return try requireSubscriptions()
        } catch {
            programError("\(error)")
        }
    }

    func requireSubscriptions() throws -> SyncSubscriptionSet {
        core.confinement.check()
        guard let session = core.syncSession else {
            throw Realm.Error(
                .fail, "A local Realm has no subscriptions: open it with user.flexibleSyncConfiguration().")
        }
        if let partition = session.configuration()?.partition {
            throw Realm.Error(
                .fail,
                "A partition-based Realm (\(partition.value)) has no subscriptions; it gets everything in its "
                    + "partition that the user may read. For subscriptions, open one with "
                    + "user.flexibleSyncConfiguration().")
        }
        return try SyncSubscriptionSet(realm: self, session: session)
    }
}
