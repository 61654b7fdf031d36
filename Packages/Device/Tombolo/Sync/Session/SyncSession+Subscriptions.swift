internal import Synchronization
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol

extension SyncSession {
    /// The set that the app asked for last.
    func newestSubscriptions() throws -> SubscriptionFile.Kept { try subscriptionFile.use { try $0.newest() } }

    /// Changes the newest set and sends it.
    func changeSubscriptions(
        _ change: (SubscriptionFile.Kept) throws -> SubscriptionFile.Kept
    ) throws -> SubscriptionFile.Kept {
        let content = try subscriptionFile.use { try $0.change(change) }
        let isSuspended = situation.value.withLock { state in
            // Another set may be what the server accepts.
            if state.failure?.code == .badSubscription { state.failure = nil }
            return state.isSuspended
        }
        let engine = engine
        Task {
            try? await engine.subscriptionsChanged()
            if !isSuspended { await engine.start() }
        }
        tellSubscriptionObservers()
        return content
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
