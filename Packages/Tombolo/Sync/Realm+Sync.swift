internal import TomboloModel

extension Realm {
    /// When an opened Realm has data.
    public enum OpenBehavior: Sendable {
        /// At once, with what the file holds.
        case never
        /// After the device has caught up with the server.
        case always
    }

    /// Opens a synced Realm in async code, and waits for the server where asked to.
    /// - Throws: ``Realm/Error``, or ``SyncError`` when the server does not accept the session.
    public init(
        configuration: Configuration, downloadBeforeOpen: OpenBehavior,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        self = try await Realm.open(configuration: configuration)
        guard downloadBeforeOpen == .always else { return }
        try await core.syncSession?.waitForDownload()
        refresh()
    }

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
