internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TomboloModel
internal import TomboloSyncClient
internal import TomboloSyncProtocol

/// A frozen Realm, which any thread may read.
struct FrozenBefore: @unchecked Sendable {
    let realm: Realm
}

/// Answers the engine's questions during a client reset. Everything here is called on the engine's thread.
extension SyncSession {
    /// Decides what happens to the device's unsynced changes.
    func decideReset(_ reason: String) -> SyncEngine.ResetDecision {
        switch takeResetMode() {
        case (.manual, false):
            askApp(
                "The device has to start over: \(reason) Nothing on the device has changed. Call "
                    + "SyncSession.immediatelyHandleError() with the error's token to back up the file and download it "
                    + "again, or resume() on the session, which recovers unsynced changes.")
            return .stop
        case (.discardUnsyncedChanges, _): return .discard
        case (.manual, true), (.recoverUnsyncedChanges, _), (.recoverOrDiscardUnsyncedChanges, _): return .recover
        }
    }

    /// Decides what happens to unsynced changes that can't be recovered.
    func decideFailedRecovery(_ error: any Error) -> SyncEngine.ResetDecision {
        if case (.recoverOrDiscardUnsyncedChanges, _) = takeResetMode() { return .discard }
        askApp(
            "The device has to start over, and its unsynced changes can't be recovered: \(error) Nothing on the device "
                + "has changed. Call SyncSession.immediatelyHandleError() with the error's token to back up the file "
                + "and download it again, or open it with another client reset mode.")
        return .stop
    }

    private func takeResetMode() -> (ClientResetMode, isApproved: Bool) {
        situation.value.withLock { state in
            defer { state.isResetApproved = false }
            return (state.configuration.clientResetMode, state.isResetApproved)
        }
    }

    /// Stops until the app has decided.
    private func askApp(_ message: String) {
        let (error, mode) = situation.value.withLock { state in
            let token = SyncError.ActionToken(path: path, state.realm)
            let error = SyncError(.clientResetError, message, actionToken: token)
            state.resetError = error
            return (error, state.configuration.clientResetMode)
        }
        fail(SessionFailure(.unavailable, message))
        guard case .manual(.some(let handler)) = mode else { return report(error) }
        DispatchQueue.main.async { handler(error, self) }
    }

    // MARK: Blocks

    /// Called right before everything is replaced. Shows the app its current state.
    func willReset() {
        let (mode, configuration) = situation.value.withLock { ($0.configuration.clientResetMode, $0.realm) }
        guard mode.beforeReset != nil || mode.afterReset != nil else { return }
        do {
            let before = Realm(core: try RealmCore.open(configuration, .task, of: self)).freeze()
            mode.beforeReset?(before)
            guard mode.afterReset != nil else { return }
            // Keep a copy for the block after the reset, in case the process is killed in between.
            RealmFiles.delete(at: copyBeforeReset.path)
            try before.writeCopy(toFile: copyBeforeReset)
            situation.value.withLock { $0.beforeReset = FrozenBefore(realm: before) }
        } catch {
            report(
                SyncError(
                    .clientSessionError,
                    "Can't call the blocks of a client reset, because the Realm can't be read: \(error)"))
        }
    }

    /// Called when everything has been replaced.
    func didReset() {
        let (before, mode, configuration) = situation.value.withLock { state in
            // The changesets that waiters refer to are renumbered now, or gone.
            state.resets += 1
            state.progress.startOver()
            defer { state.beforeReset = nil }
            return (state.beforeReset?.realm, state.configuration.clientResetMode, state.realm)
        }
        Task { await reportUpload() }
        defer { RealmFiles.delete(at: copyBeforeReset.path) }
        guard let block = mode.afterReset else { return }
        do {
            guard let before = try before ?? keptBefore(configuration) else { return }
            block(before, Realm(core: try RealmCore.open(configuration, .task, of: self)))
        } catch {
            report(
                SyncError(
                    .clientSessionError,
                    "Can't call the block after a client reset, because the Realm can't be read: \(error)"))
        }
    }

    /// Releases the Realm that shows the state before a reset. The block after the reset gets the copy instead.
    func letGoOfBefore() {
        // Returned, so that it's released outside the lock.
        _ = situation.value.withLock { state in
            defer { state.beforeReset = nil }
            return state.beforeReset
        }
    }

    private var copyBeforeReset: URL { URL(fileURLWithPath: path + RealmFiles.beforeResetSuffix) }

    /// The state before a reset, if the process was killed after it.
    private func keptBefore(_ configuration: Realm.Configuration) throws -> Realm? {
        guard FileManager.default.fileExists(atPath: copyBeforeReset.path) else { return nil }
        var configuration = configuration
        configuration.syncConfiguration = nil
        configuration.keepsUploadQueue = false
        configuration.fileURL = copyBeforeReset
        configuration.readOnly = true
        return Realm(core: try RealmCore.open(configuration, .task)).freeze()
    }

    // MARK: By hand

    /// Handles a ``SyncError`` with the code `clientResetError`: copies the file, with its unsynced changes, to the
    /// path in ``SyncError/clientResetInfo()``, then deletes it. A Realm opened afterwards downloads everything again.
    /// Callable from any thread. Release the file's Realms and objects first.
    /// - Returns: false if nothing was done, because a Realm of the file is open, the copy can't be written, or the
    ///   token was already used. In the first two cases you can use the token again.
    @discardableResult
    public static func immediatelyHandleError(_ token: SyncError.ActionToken) -> Bool { token.act() }
}

extension SyncError {
    /// Permits backing up and deleting the file of a session that has to start over; see
    /// ``SyncSession/immediatelyHandleError(_:)``. Works once.
    public final class ActionToken: Sendable {
        private let path: String
        let recoveryPath: String
        /// Nil once the token was used.
        private let configuration: Mutex<Realm.Configuration?>

        /// The copy goes into a folder next to the file.
        init(path: String, _ configuration: Realm.Configuration) {
            self.path = path
            let file = URL(fileURLWithPath: path)
            let time = Date().formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
            recoveryPath =
                file.deletingLastPathComponent().appending(path: "recovered-realms")
                .appending(path: "recovered_realm-\(time)-\(UUID().uuidString.prefix(8))-\(file.lastPathComponent)")
                .path
            self.configuration = Mutex(configuration)
        }

        func act() -> Bool {
            configuration.withLock { configuration in
                guard let known = configuration else { return false }
                do {
                    try backUp(known)
                    configuration = nil
                    return true
                } catch {
                    try? FileHandle.standardError.write(
                        contentsOf: Data("WARNING: A client reset wasn't handled: \(error)\n".utf8))
                    return false
                }
            }
        }

        private func backUp(_ configuration: Realm.Configuration) throws {
            guard FileManager.default.fileExists(atPath: path) else { return }
            try RealmCache.requireUnused(path)
            let copy = URL(fileURLWithPath: recoveryPath)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            let session = SyncSession.known(path: path)
            try Realm(core: try RealmCore.open(configuration, .task, of: session)).writeCopy(toFile: copy)
            try RealmCache.delete(path)
        }
    }

    /// For the code `clientResetError`: the path that the file will be copied to, and the token for
    /// ``SyncSession/immediatelyHandleError(_:)``, which copies it. The copy is a local Realm file with the unsynced
    /// changes. Nil for other codes.
    public func clientResetInfo() -> (recoveryPath: String, token: ActionToken)? {
        actionToken.map { ($0.recoveryPath, $0) }
    }
}
