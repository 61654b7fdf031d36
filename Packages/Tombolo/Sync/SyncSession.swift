internal import Synchronization
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The synchronising of one realm file: shared by all Realms of the process on it, for the life of the process.
public final class SyncSession: Sendable {
    public enum ConnectionState: String, Sendable {
        case disconnected
        case connecting
        case connected
    }

    /// How far a download is: objects received and in all. `total` is an estimate until everything was counted.
    public struct Progress: Hashable, Sendable {
        public let transferred: Int
        public let transferrable: Int

        /// 0 to 1.
        public var progressEstimate: Double {
            transferrable == 0 ? 1 : min(1, Double(transferred) / Double(transferrable))
        }
    }

    private struct State {
        var connection = ConnectionState.disconnected
        var completedVersion: Int64 = -1
        var acknowledged: Int64 = 0
        var batches = 0
        var failure: SessionFailure?
        var nextID = 0
        var progress: [Int: @Sendable (Progress) -> Void] = [:]
        /// Asked again after every report; true lets the waiter go.
        var waiters:
            [Int: (isDone: @Sendable (State) throws -> Bool, continuation: CheckedContinuation<Void, any Error>)] =
                [:]
    }

    let configuration: SyncConfiguration
    private let engine: SyncEngine
    private let state: SharedState

    /// Reports arrive on the engine's thread; the lock guards what they and the app's threads share.
    private final class SharedState: Sendable {
        let value = Mutex(State())
    }

    private init(path: String, schema: Schema, configuration: SyncConfiguration) throws {
        self.configuration = configuration
        let state = SharedState()
        self.state = state
        let user = configuration.user
        let relay = Relay()
        engine = try SyncEngine(
            configuration: .init(url: try user.app.syncURL(), accessToken: { user.accessToken }),
            makeStore: { try SQLiteDeviceStore(path: path, schema: schema) },
            onReport: { relay.session?.receive($0) })
        relay.set(self)
        let engine = engine
        let observers = FileObservers.shared(for: path)
        _ = observers.add { _ in Task { await engine.changesetQueued() } }
        resume()
    }

    // MARK: One session for each file

    private static let all = Mutex<[String: SyncSession]>([:])

    /// The session of a file; begins to synchronise when it is first asked for.
    static func session(path: String, schema: Schema, configuration: SyncConfiguration) throws -> SyncSession {
        try all.withLock { sessions in
            if let session = sessions[path] { return session }
            let session = try SyncSession(path: path, schema: schema, configuration: configuration)
            sessions[path] = session
            return session
        }
    }

    static func sessions(of user: User) -> [SyncSession] {
        all.withLock { sessions in sessions.values.filter { $0.configuration.user === user } }
    }

    // MARK: State

    public var connectionState: ConnectionState { state.value.withLock { $0.connection } }

    /// Why the session stopped, where it did.
    public var error: SyncError? { state.value.withLock { $0.failure.map(SyncError.init) } }

    /// Goes offline until ``resume()``. Local writes go on and queue up.
    public func suspend() {
        let engine = engine
        Task { await engine.stop() }
    }

    func suspendAndWait() async { await engine.stop() }

    /// Connects again.
    public func resume() {
        state.value.withLock { $0.failure = nil }
        let engine = engine
        Task { await engine.start() }
    }

    /// Calls `block` with the progress of downloads, on the engine's thread, until the token is invalidated.
    public func addProgressNotification(_ block: @escaping @Sendable (Progress) -> Void) -> ProgressToken {
        let id = state.value.withLock { state in
            state.nextID += 1
            state.progress[state.nextID] = block
            return state.nextID
        }
        return ProgressToken { [state] in state.value.withLock { $0.progress[id] = nil } }
    }

    /// Ends a progress notification.
    public struct ProgressToken: Sendable {
        fileprivate let end: @Sendable () -> Void

        public func invalidate() { end() }
    }

    // MARK: Waiting

    /// Waits until every local write so far has its outcome on this device.
    /// - Throws: ``SyncError`` when the session stops for good; `CancellationError`.
    public func waitForUpload() async throws {
        let last = try await engine.state().lastChangeset
        try await wait { $0.acknowledged >= last }
    }

    /// Waits until the device is connected and has caught up with what the server had when it connected.
    public func waitForDownload() async throws {
        try await wait { $0.connection == .connected && $0.batches > 0 }
    }

    func waitForSubscriptions(version: Int64) async throws {
        try await wait { $0.completedVersion >= version }
    }

    private func wait(until isDone: @escaping @Sendable (State) throws -> Bool) async throws {
        let id = state.value.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let acknowledged = try await engine.state().acknowledged
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.value.withLock { state in
                    state.acknowledged = max(state.acknowledged, acknowledged)
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
            state.value.withLock { state in
                state.waiters.removeValue(forKey: id)?.continuation.resume(throwing: CancellationError())
            }
        }
    }

    private static func releaseWaiters(_ state: inout State) {
        for (id, waiter) in state.waiters {
            do {
                if let failure = state.failure { throw SyncError(failure) }
                guard try waiter.isDone(state) else { continue }
                waiter.continuation.resume()
            } catch {
                waiter.continuation.resume(throwing: error)
            }
            state.waiters[id] = nil
        }
    }

    // MARK: Subscriptions

    func subscriptions() async throws -> (wanted: SubscriptionSet, activeVersion: Int64) {
        let state = try await engine.state()
        return (state.wanted, state.position.subscriptionVersion)
    }

    func setSubscriptions(_ set: SubscriptionSet) async throws {
        state.value.withLock { $0.failure = nil }
        try await engine.setSubscriptions(set)
        await engine.start()
    }

    // MARK: Reports

    private func receive(_ report: ClientSession.Report) {
        var errors: [SyncError] = []
        var progress: (Progress, [@Sendable (Progress) -> Void])?
        state.value.withLock { state in
            switch report {
            case .connection(let connection):
                state.connection = ConnectionState(rawValue: connection.rawValue) ?? .disconnected
                if state.connection != .connected { state.batches = 0 }
            case .download(let received, let total):
                progress = (Progress(transferred: received, transferrable: total), Array(state.progress.values))
            case .subscriptionsComplete(let version):
                state.completedVersion = version
                state.batches += 1
            case .acknowledged(let number): state.acknowledged = number
            case .refused(let changesets):
                let reasons = changesets.map(\.refusal.message).joined(separator: " ")
                errors.append(
                    SyncError(.writeRejected, reasons, compensatingWrites: changesets.map(CompensatingWriteInfo.init)))
            case .reset(let reason):
                state.acknowledged = 0
                state.completedVersion = -1
                errors.append(SyncError(.clientReset, reason))
            case .failure(let failure):
                if !failure.isRetryable { state.failure = failure }
                errors.append(SyncError(failure))
            }
            Self.releaseWaiters(&state)
        }
        if let progress { for block in progress.1 { block(progress.0) } }
        for error in errors { configuration.errorHandler?(error, self) }
    }

    /// Breaks the circle of a session that makes its engine with a callback to itself.
    private final class Relay: Sendable {
        private let reference = Mutex<SyncSession?>(nil)

        var session: SyncSession? { reference.withLock { $0 } }

        func set(_ session: SyncSession) { reference.withLock { $0 = session } }
    }
}
