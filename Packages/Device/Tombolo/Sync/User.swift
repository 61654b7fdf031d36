internal import Foundation

/// A logged-in user.
public final class User: Sendable {
    /// The user's id at the server.
    public let id: String
    let accessToken: String
    let app: App

    init(id: String, accessToken: String, app: App) {
        self.id = id
        self.accessToken = accessToken
        self.app = app
    }

    /// The configuration of a realm that synchronises with query subscriptions. Set `objectTypes`; `fileURL` names the
    /// file, which is the user's own otherwise.
    public func flexibleSyncConfiguration() -> Realm.Configuration {
        var configuration = Realm.Configuration()
        configuration.syncConfiguration = SyncConfiguration(user: self)
        configuration.fileURL = configuration.fileURL?.deletingLastPathComponent()
            .appending(path: app.id).appending(path: id).appending(path: "flexible.realm")
        return configuration
    }

    /// Stops the user's synchronising. Files stay; delete them with `Realm.deleteFiles(for:)`, or log the user in again
    /// and open them to go on.
    public func logOut() async throws {
        for session in SyncSession.sessions(of: self) { await session.suspendAndWait() }
        app.forget(self)
    }
}

/// Whose realm it is, and how problems are reported.
public struct SyncConfiguration: Sendable {
    public let user: User
    /// Gets what the app did not ask for: refused changesets, client resets, failed sessions. Called on the sync
    /// engine's thread.
    public var errorHandler: (@Sendable (SyncError, SyncSession) -> Void)?

    public init(user: User, errorHandler: (@Sendable (SyncError, SyncSession) -> Void)? = nil) {
        self.user = user
        self.errorHandler = errorHandler
    }
}
