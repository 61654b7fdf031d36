public import Dispatch
internal import Foundation
internal import Synchronization
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol
internal import TomboloSyncSession

extension SyncSession {
    /// Waits until the device knows the outcome of every local write so far.
    /// - Throws: ``SyncError`` if the session fails or is suspended; `CancellationError`.
    public func waitForUpload() async throws {
        while true {
            let resets = situation.value.withLock { $0.resets }
            let last = try await engine.state().lastChangeset
            try await wait { $0.resets != resets || $0.acknowledged >= last }
            // A client reset renumbers the changesets.
            if situation.value.withLock({ $0.resets == resets }) { return }
        }
    }

    /// Waits until the device is connected and has everything that the server had at that moment for the newest
    /// subscriptions. Doesn't wait for subscriptions that the server refuses. Throws like ``waitForUpload()``.
    public func waitForDownload() async throws {
        // The session may have connected before the newest subscriptions were stored.
        let version = try subscriptionFile.use { file in
            let newest = try file.newest().set.version
            return if case .pending = try file.status(version: newest) { newest } else { Int64.min }
        }
        try await wait { state in
            state.connection == .connected && state.batches > 0
                && (state.completedVersion >= version || state.refusedVersions[version] != nil)
        }
    }

    /// ``waitForUpload()`` or ``waitForDownload()``.
    public func wait(for direction: ProgressDirection) async throws {
        switch direction {
        case .upload: try await waitForUpload()
        case .download: try await waitForDownload()
        }
    }

    /// The same with a completion block, which is called on `queue`, by default the main queue.
    public func wait(
        for direction: ProgressDirection, queue: DispatchQueue? = nil, block: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task {
            let error = await failure { try await self.wait(for: direction) }
            (queue ?? .main).async { block(error) }
        }
    }

    /// Waits until the device has the objects that a set asks for, or a newer set has replaced the set.
    func waitForSubscriptions(version: Int64) async throws {
        switch try subscriptionFile.use({ try $0.status(version: version) }) {
        case .complete, .superseded: return
        case .refused(let reason): throw Realm.Error(.subscriptionFailed, reason)
        case .pending: break
        }
        try await wait { state in
            if let reason = state.refusedVersions[version] { throw Realm.Error(.subscriptionFailed, reason) }
            return state.completedVersion >= version
        }
    }

    private func wait(until isDone: @escaping @Sendable (Situation) throws -> Bool) async throws {
        let (id, resets) = situation.value.withLock { state in
            state.nextID += 1
            return (state.nextID, state.resets)
        }
        let acknowledged = try await engine.state().acknowledged
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                situation.value.withLock { state in
                    if state.resets == resets { state.acknowledged = max(state.acknowledged, acknowledged) }
                    state.waiters[id] = (isDone, continuation)
                    if Task.isCancelled {
                        state.waiters[id] = nil
                        continuation.resume(throwing: CancellationError())
                    } else {
                        Self.releaseWaiters(&state)
                    }
                }
            }
        } onCancel: {
            situation.value.withLock { state in
                state.waiters.removeValue(forKey: id)?.continuation.resume(throwing: CancellationError())
            }
        }
    }

    static func releaseWaiters(_ state: inout Situation) {
        for (id, waiter) in state.waiters {
            do {
                if state.isClosed { throw SyncEngineError.closed }
                if let error = state.resetError { throw error }
                if let failure = state.failure { throw SyncError(failure) }
                guard try waiter.isDone(state) else { continue }
                waiter.continuation.resume()
            } catch {
                waiter.continuation.resume(throwing: error)
            }
            state.waiters[id] = nil
        }
    }

    /// Makes all waiting calls throw an error.
    static func failWaiters(_ state: inout Situation, _ error: SyncError) {
        for waiter in state.waiters.values { waiter.continuation.resume(throwing: error) }
        state.waiters = [:]
    }

    /// The number of waiters, for tests.
    var waiterCount: Int { situation.value.withLock { $0.waiters.count } }
}
