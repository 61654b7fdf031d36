internal import Synchronization
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol

extension SyncSession {
    /// The newest set that the app asked for.
    func newestSubscriptions() throws -> SubscriptionFile.Kept { try subscriptionFile.use { try $0.newest() } }

    /// Changes the newest set and sends it.
    func changeSubscriptions(
        _ change: (SubscriptionFile.Kept) throws -> SubscriptionFile.Kept
    ) throws -> SubscriptionFile.Kept {
        let content = try subscriptionFile.use { try $0.change(change) }
        situation.value.withLock { state in
            // The server may accept the new set.
            if state.failure?.code == .badSubscription { state.failure = nil }
        }
        Task { await sendSubscriptions() }
        tellSubscriptionObservers()
        return content
    }

    /// Sends the newest set. Reconnects if the server refused an earlier set, unless the session is suspended.
    func sendSubscriptions() async { await sendSubscriptions(onThreadOf: engine) }

    private func sendSubscriptions(onThreadOf engine: isolated SyncEngine) {
        try? engine.subscriptionsChanged()
        followSuspension(onThreadOf: engine)
    }

    func subscriptionState(version: Int64) -> SyncSubscriptionState {
        do {
            return switch try subscriptionFile.use({ try $0.status(version: version) }) {
            case .pending: .pending
            case .complete: .complete
            case .superseded: .superseded
            case .refused(let reason): .error(SyncError(.invalidFlexibleSyncSubscriptions, reason))
            }
        } catch {
            return .error(error)
        }
    }

    func observeSubscriptions(_ block: @escaping @Sendable (SyncSession) -> Void) -> Int {
        situation.value.withLock { state in
            state.nextID += 1
            state.subscriptionObservers[state.nextID] = block
            return state.nextID
        }
    }

    func endObservingSubscriptions(_ id: Int) { situation.value.withLock { $0.subscriptionObservers[id] = nil } }

    func tellSubscriptionObservers() {
        for block in situation.value.withLock({ Array($0.subscriptionObservers.values) }) { block(self) }
    }
}
