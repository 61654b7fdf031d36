internal import Foundation

/// The user of a synced Realm, its initial subscriptions, and how errors are handled.
public struct SyncConfiguration: Sendable {
    /// The user to synchronise as.
    public let user: User
    /// What happens to unsynced changes if the device must start over.
    public var clientResetMode: ClientResetMode
    /// Whether waiting for a download fails if the server can't be reached. Otherwise it keeps waiting until the server
    /// can be reached.
    public var cancelAsyncOpenOnNonFatalErrors: Bool
    /// Creates the first subscriptions.
    public var initialSubscriptions: InitialSubscriptionsConfiguration?
    /// Receives this session's errors that occur outside the app's own calls, instead of ``SyncManager/errorHandler``:
    /// refused changesets, client resets, failed sessions. Called on the sync engine's thread.
    public var errorHandler: (@Sendable (SyncError, SyncSession) -> Void)?
    /// The partition that the Realm synchronises with, or nil if it has subscriptions.
    var partition: Partition?

    public init(
        user: User, clientResetMode: ClientResetMode = .recoverUnsyncedChanges(),
        cancelAsyncOpenOnNonFatalErrors: Bool = false, initialSubscriptions: InitialSubscriptionsConfiguration? = nil,
        errorHandler: (@Sendable (SyncError, SyncSession) -> Void)? = nil
    ) {
        self.user = user
        self.clientResetMode = clientResetMode
        self.cancelAsyncOpenOnNonFatalErrors = cancelAsyncOpenOnNonFatalErrors
        self.initialSubscriptions = initialSubscriptions
        self.errorHandler = errorHandler
    }
}

/// The subscriptions that a Realm starts with.
public struct InitialSubscriptionsConfiguration: Sendable {
    /// Adds subscriptions. Runs inside an update.
    public let callback: @Sendable (SyncSubscriptionSet) -> Void
    /// Whether the callback runs every time the process opens the file, instead of only for a new file. The callback
    /// should then look for a subscription by name before adding it.
    public let rerunOnOpen: Bool
}

/// What happens to changes that weren't uploaded if the device must start over, because the server was restored from a
/// backup, or because it no longer remembers what changed since the device was last connected.
public enum ClientResetMode: Sendable {
    /// The session stops. On the main queue, the handler (or else ``SyncManager/errorHandler``) receives a
    /// ``SyncError`` with the code `clientResetError`. Local data stays unchanged until the app decides:
    /// ``SyncSession/immediatelyHandleError(_:)`` backs up the file and deletes it; ``SyncSession/resume()`` recovers
    /// unsynced changes. If the app does neither, it's asked again the next time the session connects.
    case manual(errorHandler: SyncManager.ErrorReportingBlock? = nil)
    /// Unsynced changes are dropped once everything has been downloaded.
    case discardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Unsynced changes are made again on top of what was downloaded, then uploaded. If that fails, the session stops
    /// as with ``manual(errorHandler:)``.
    case recoverUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Like ``recoverUnsyncedChanges(beforeReset:afterReset:)``, but if recovery fails, unsynced changes are dropped.
    case recoverOrDiscardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)

    /// Called once everything has been downloaded, with a frozen Realm that shows the state before the reset. Runs on
    /// the sync engine's thread, like ``afterReset``. Called again if the process is killed before the reset is
    /// complete.
    var beforeReset: (@Sendable (Realm) -> Void)? {
        switch self {
        case .manual: nil
        case .discardUnsyncedChanges(let before, _), .recoverUnsyncedChanges(let before, _),
            .recoverOrDiscardUnsyncedChanges(let before, _):
            before
        }
    }

    /// Called after the reset with the frozen Realm and the live one. If the process is killed meanwhile, it's called
    /// after the next launch.
    var afterReset: (@Sendable (Realm, Realm) -> Void)? {
        switch self {
        case .manual: nil
        case .discardUnsyncedChanges(_, let after), .recoverUnsyncedChanges(_, let after),
            .recoverOrDiscardUnsyncedChanges(_, let after):
            after
        }
    }
}

extension User {
    /// The configuration of a Realm that synchronises by subscriptions. Set `objectTypes` to limit its classes. Unless
    /// `fileURL` is set, each user has their own file.
    public func flexibleSyncConfiguration(
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(), cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        configuration(
            SyncConfiguration(
                user: self, clientResetMode: clientResetMode,
                cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors), fileName: "flexible.realm")
    }

    /// The same, with the subscriptions of a new Realm.
    /// - Parameter rerunOnOpen: whether `initialSubscriptions` runs every time the process opens the file.
    public func flexibleSyncConfiguration(
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(), cancelAsyncOpenOnNonFatalErrors: Bool = false,
        initialSubscriptions: @escaping @Sendable (SyncSubscriptionSet) -> Void, rerunOnOpen: Bool = false
    ) -> Realm.Configuration {
        configuration(
            SyncConfiguration(
                user: self, clientResetMode: clientResetMode,
                cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors,
                initialSubscriptions: InitialSubscriptionsConfiguration(
                    callback: initialSubscriptions, rerunOnOpen: rerunOnOpen)), fileName: "flexible.realm")
    }

    func configuration(_ sync: SyncConfiguration, fileName: String) -> Realm.Configuration {
        precondition(state != .removed, "User '\(id)' has been removed and can't open Realms.")
        var configuration = Realm.Configuration()
        configuration.syncConfiguration = sync
        configuration.fileURL = app.users.store.folder(ofUser: id).appending(path: fileName)
        return configuration
    }
}
