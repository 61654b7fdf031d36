internal import Foundation
internal import Synchronization
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The synchronisation of one file for one user, shared by all of the process's Realms of the file until it's deleted.
public final class SyncSession: Sendable {
    public enum ConnectionState: String, Sendable {
        case disconnected
        case connecting
        case connected
    }

    /// The progress of a download in objects. `transferrable` is an estimate until everything has been counted.
    public struct Progress: Hashable, Sendable {
        public let transferred: Int
        public let transferrable: Int

        /// The progress from 0 to 1.
        public var progressEstimate: Double {
            transferrable == 0 ? 1 : min(1, Double(transferred) / Double(transferrable))
        }
    }

    private struct State {
        /// Has the token for the next connection and the error handler. A later login replaces it.
        var configuration: SyncConfiguration
        var isClosed = false
        /// The number of client resets. Changeset numbers are only comparable between two of them.
        var resets = 0
        var connection = ConnectionState.disconnected
        var completedVersion: Int64 = -1
        var acknowledged: Int64 = 0
        var batches = 0
        var failure: SessionFailure?
        var nextID = 0
        var progress: [Int: @Sendable (Progress) -> Void] = [:]
        /// Conditions checked after every report; true resumes the waiter.
        var waiters:
            [Int: (isDone: @Sendable (State) throws -> Bool, continuation: CheckedContinuation<Void, any Error>)] =
                [:]
    }

    private let schema: Schema
    private let url: URL
    private let engine: SyncEngine
    private let state: SharedState
    private let relay: Relay
    private let observers: FileObservers
    private let observer: Int

    /// State shared by the engine's thread, on which reports arrive, and the app's threads. Guarded by the lock.
    private final class SharedState: Sendable {
        let value: Mutex<State>

        init(_ state: State) { value = Mutex(state) }
    }

    /// The current configuration.
    var configuration: SyncConfiguration { state.value.withLock { $0.configuration } }

    private init(path: String, schema: Schema, configuration: SyncConfiguration) throws {
        self.schema = schema
        url = try configuration.user.app.syncURL()
        let state = SharedState(State(configuration: configuration))
        self.state = state
        let relay = Relay()
        self.relay = relay
        let engine = try SyncEngine(
            configuration: .init(
                url: url, accessToken: { state.value.withLock { $0.configuration.user.accessToken } }),
            makeStore: { try SQLiteDeviceStore(path: path, schema: schema) },
            onReport: { relay.session?.receive($0) })
        self.engine = engine
        observers = FileObservers.shared(for: path)
        observer = observers.add { _ in Task { await engine.changesetQueued() } }
        relay.set(self)
        resume()
    }

    // MARK: One session for each file

    private static let all = Mutex<[String: SyncSession]>([:])

    /// The session of a file, which starts synchronising when it's first requested. After a new login of the same user
    /// it continues with the new token.
    static func session(path: String, schema: Schema, configuration: SyncConfiguration) throws -> SyncSession {
        let session = try all.withLock { sessions in
            if let session = sessions[path] { return session }
            let session = try SyncSession(path: path, schema: schema, configuration: configuration)
            sessions[path] = session
            return session
        }
        session.adopt(configuration)
        return session
    }

    /// Prepares for opening a file: closes its session if that has other classes and no Realm in the process uses it.
    /// - Throws: ``Realm/Error`` with the code `incompatibleSession` if the file is synchronised for another user.
    static func makeWay(path: String, schema: Schema, configuration: SyncConfiguration) throws {
        guard let session = all.withLock({ $0[path] }) else { return }
        let (old, new) = (session.configuration.user, configuration.user)
        guard old.id == new.id, try session.url == new.app.syncURL() else {
            throw Realm.Error(
                .incompatibleSession,
                "'\(path)' is synchronised for user '\(old.id)' with \(session.url), not for '\(new.id)' with "
                    + "\(try new.app.syncURL()). Give each user a file of their own, as "
                    + "user.flexibleSyncConfiguration() does, or delete this one first.")
        }
        if session.schema != schema { remove(path: path)?.close() }
    }

    static func sessions(of user: User) -> [SyncSession] {
        all.withLock { Array($0.values) }.filter { $0.configuration.user === user }
    }

    /// Removes the session of a file that is to be deleted, or returns nil if there's none. The caller closes it.
    static func remove(path: String) -> SyncSession? { all.withLock { $0.removeValue(forKey: path) } }

    /// Continues with the token of a new login.
    private func adopt(_ configuration: SyncConfiguration) {
        let isNewLogin = state.value.withLock { state in
            guard state.configuration.user !== configuration.user else { return false }
            let handler = configuration.errorHandler ?? state.configuration.errorHandler
            state.configuration = SyncConfiguration(user: configuration.user, errorHandler: handler)
            return true
        }
        if isNewLogin { resume() }
    }

    /// Stops for good and closes the file. Waiters get an error.
    func close() {
        observers.remove(observer)
        engine.close()
        relay.set(nil)
        state.value.withLock { state in
            state.isClosed = true
            Self.releaseWaiters(&state)
        }
    }

    // MARK: State

    /// The current state of the connection. May be called from any thread.
    public var connectionState: ConnectionState { state.value.withLock { $0.connection } }

    /// Why the session stopped, or nil if it hasn't.
    public var error: SyncError? { state.value.withLock { $0.failure.map(SyncError.init) } }

    /// Goes offline until ``resume()``. Local writes continue and queue up.
    public func suspend() {
        let engine = engine
        Task { await engine.stop() }
    }

    func suspendAndWait() async { await engine.stop() }

    /// Reconnects after ``suspend()`` or a failure.
    public func resume() {
        state.value.withLock { $0.failure = nil }
        let engine = engine
        Task { await engine.start() }
    }

    /// Calls `block` on the engine's thread with the progress of downloads until the token is invalidated.
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

        /// Ends the notifications.
        public func invalidate() { end() }
    }

    // MARK: Waiting

    /// Waits until this device knows the outcome of every local write so far.
    /// - Throws: ``SyncError`` if the session stops for good; `CancellationError`.
    public func waitForUpload() async throws {
        while true {
            let resets = state.value.withLock { $0.resets }
            let last = try await engine.state().lastChangeset
            try await wait { $0.resets != resets || $0.acknowledged >= last }
            // A client reset renumbers the changesets.
            if state.value.withLock({ $0.resets == resets }) { return }
        }
    }

    /// Waits until the device is connected and has everything the server had when it connected. Throws like
    /// ``waitForUpload()``.
    public func waitForDownload() async throws {
        try await wait { $0.connection == .connected && $0.batches > 0 }
    }

    func waitForSubscriptions(version: Int64) async throws {
        try await wait { $0.completedVersion >= version }
    }

    private func wait(until isDone: @escaping @Sendable (State) throws -> Bool) async throws {
        let (id, resets) = state.value.withLock { state in
            state.nextID += 1
            return (state.nextID, state.resets)
        }
        let acknowledged = try await engine.state().acknowledged
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.value.withLock { state in
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
            state.value.withLock { state in
                state.waiters.removeValue(forKey: id)?.continuation.resume(throwing: CancellationError())
            }
        }
    }

    private static func releaseWaiters(_ state: inout State) {
        for (id, waiter) in state.waiters {
            do {
                if state.isClosed { throw SyncEngineError.closed }
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

    /// The number of waiters, for tests.
    var waiterCount: Int { state.value.withLock { $0.waiters.count } }

    func receive(_ report: ClientSession.Report) {
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
                state.resets += 1
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
        guard !errors.isEmpty, let handler = configuration.errorHandler else { return }
        for error in errors { handler(error, self) }
    }

    /// Breaks the reference cycle between a session and its engine's callback.
    private final class Relay: Sendable {
        private let reference = Mutex<SyncSession?>(nil)

        var session: SyncSession? { reference.withLock { $0 } }

        func set(_ session: SyncSession?) { reference.withLock { $0 = session } }
    }
}
