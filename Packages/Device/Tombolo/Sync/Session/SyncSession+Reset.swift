internal import Synchronization
internal import TomboloSyncClient
internal import TomboloSyncProtocol

/// A frozen Realm, which any thread may read.
struct FrozenBefore: @unchecked Sendable {
    let realm: Realm
}

extension SyncSession {
    /// Asks the app what to do with the device's unsynced changes. Called on the engine's thread.
    func prepareReset(_ reason: String) -> SyncEngine.ResetDecision {
        let (configuration, realm, isApproved) = situation.value.withLock { state in
            defer { state.isResetApproved = false }
            return (state.configuration, state.realm, state.isResetApproved)
        }
        switch configuration.clientResetMode {
        case .manual(let handler):
            if isApproved { return .recover }
            let failure = SessionFailure(
                .unavailable,
                "The device has to start over: \(reason) Unsynced changes are still in the file. Save what you need and "
                    + "call resume() on the session, which recovers them.")
            fail(failure)
            let error = SyncError(.clientResetError, failure.message)
            if let handler { handler(error, self) } else { report(error) }
            return .stop
        case .discardUnsyncedChanges:
            remember(configuration, realm)
            return .discard
        case .recoverUnsyncedChanges, .recoverOrDiscardUnsyncedChanges:
            remember(configuration, realm)
            return .recover
        }
    }

    private func remember(_ configuration: SyncConfiguration, _ realm: Realm.Configuration?) {
        guard configuration.clientResetMode.beforeReset != nil || configuration.clientResetMode.afterReset != nil,
            let realm, let core = try? RealmCore.open(realm, .task)
        else { return }
        let before = Realm(core: core).freeze()
        configuration.clientResetMode.beforeReset?(before)
        situation.value.withLock { $0.beforeReset = FrozenBefore(realm: before) }
    }

    /// Tells the app that the download after a reset is complete. Called on the engine's thread.
    func finishReset() {
        let (before, configuration, realm) = situation.value.withLock { state in
            defer { state.beforeReset = nil }
            return (state.beforeReset, state.configuration, state.realm)
        }
        guard let before, let block = configuration.clientResetMode.afterReset, let realm,
            let core = try? RealmCore.open(realm, .task)
        else { return }
        block(before.realm, Realm(core: core))
    }
}
