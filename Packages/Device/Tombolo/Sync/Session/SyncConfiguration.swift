internal import Foundation

/// The user of a synced Realm, what it starts with, and how errors are handled.
public struct SyncConfiguration: Sendable {
    /// The user to synchronise for.
    public let user: User
    /// What happens if the device must start over.
    public var clientResetMode: ClientResetMode
    /// Whether waiting for a download ends with an error if the server can't be reached. Otherwise it waits until the
    /// server can be.
    public var cancelAsyncOpenOnNonFatalErrors: Bool
    /// Makes the first subscriptions.
    public var initialSubscriptions: InitialSubscriptionsConfiguration?
    /// Receives errors of this session outside the app's own calls, instead of ``SyncManager/errorHandler``: refused
    /// changesets, client resets, failed sessions. Called on the sync engine's thread.
    public var errorHandler: (@Sendable (SyncError, SyncSession) -> Void)?
    /// The partition that the Realm synchronises with; nil for one with subscriptions.
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
    /// Adds subscriptions; runs inside an update.
    public let callback: @Sendable (SyncSubscriptionSet) -> Void
    /// Whether it runs every time the process opens the file, instead of only for a new file. The callback should then
    /// look for a subscription by name before adding it.
    public let rerunOnOpen: Bool
}

/// What happens to changes that weren't uploaded if the device must start over: the server was restored from a backup,
/// or it no longer remembers what changed since the device was last connected.
public enum ClientResetMode: Sendable {
    /// The session stops and the handler, or else ``SyncManager/errorHandler``, gets a ``SyncError`` with the code
    /// `clientResetError`, on the main queue. Local data stay as they are until the app decides:
    /// ``SyncSession/immediatelyHandleError(_:)`` backs the file up and deletes it, ``SyncSession/resume()`` recovers
    /// unsynced changes. If it doesn't, it's asked again when the session connects the next time.
    case manual(errorHandler: SyncManager.ErrorReportingBlock? = nil)
    /// Unsynced changes are dropped, when everything has been downloaded.
    case discardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// Unsynced changes are made again on what was downloaded, then uploaded. If that fails, it's the same as
    /// ``manual(errorHandler:)``.
    case recoverUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)
    /// The same as ``recoverUnsyncedChanges(beforeReset:afterReset:)``, but if that fails, unsynced changes are dropped.
    case recoverOrDiscardUnsyncedChanges(
        beforeReset: (@Sendable (_ before: Realm) -> Void)? = nil,
        afterReset: (@Sendable (_ before: Realm, _ after: Realm) -> Void)? = nil)

    /// Called with a frozen Realm as it is, once everything has been downloaded; on the sync engine's thread, like
    /// ``afterReset``. Called again if the process is killed before the reset is complete.
    var beforeReset: (@Sendable (Realm) -> Void)? {
        switch self {
        case .manual: nil
        case .discardUnsyncedChanges(let before, _), .recoverUnsyncedChanges(let before, _),
            .recoverOrDiscardUnsyncedChanges(let before, _):
            before
        }
    }

    /// Called with the frozen Realm and the live one after the reset; after the next launch if the process is killed
    /// meanwhile.
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
    /// The configuration of a Realm that synchronises by subscriptions. Set `objectTypes` to limit its classes. The
    /// file is the user's own unless `fileURL` is set.
    public func flexibleSyncConfiguration(
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(), cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        configuration(
            SyncConfiguration(
                user: self, clientResetMode: clientResetMode,
                cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors), fileName: "flexible.realm")
    }

    /// The same, with subscriptions that a new Realm starts with.
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
