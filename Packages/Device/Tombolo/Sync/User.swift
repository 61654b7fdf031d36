internal import Foundation

/// A logged-in user.
public final class User: Sendable {
    /// The user's ID at the server.
    public let id: String
    let accessToken: String
    let app: App

    init(id: String, accessToken: String, app: App) {
        self.id = id
        self.accessToken = accessToken
        self.app = app
    }

    /// The configuration of a Realm that synchronises by subscriptions. Set `objectTypes` to limit its classes. The
    /// file is the user's own unless `fileURL` is set.
    public func flexibleSyncConfiguration() -> Realm.Configuration {
        var configuration = Realm.Configuration()
        configuration.syncConfiguration = SyncConfiguration(user: self)
        configuration.fileURL = configuration.fileURL?.deletingLastPathComponent()
            .appending(path: app.id).appending(path: id).appending(path: "flexible.realm")
        return configuration
    }

    /// Stops the user's synchronisation. Files stay: delete them with `Realm.deleteFiles(for:)`, or log in again and
    /// open them to continue.
    public func logOut() async throws {
        for session in SyncSession.sessions(of: self) { await session.suspendAndWait() }
        app.forget(self)
    }
}

/// The user of a synced Realm, and how errors are reported.
public struct SyncConfiguration: Sendable {
    /// The user to synchronise for.
    public let user: User
    /// Receives errors outside the app's own calls: refused changesets, client resets, failed sessions. Called on the
    /// sync engine's thread.
    public var errorHandler: (@Sendable (SyncError, SyncSession) -> Void)?

    public init(user: User, errorHandler: (@Sendable (SyncError, SyncSession) -> Void)? = nil) {
        self.user = user
        self.errorHandler = errorHandler
    }
}
