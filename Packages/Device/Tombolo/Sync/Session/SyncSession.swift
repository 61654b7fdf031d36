internal import Foundation
internal import Synchronization
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncClient
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Synchronises one file for one user. All Realms of the file in the process share the session. It lasts until the file
/// is deleted; a partition's session ends with the file's last Realm. May be used from any thread.
public final class SyncSession: Sendable {
    /// Whether the session synchronises. Whether it's connected is a separate question: see ``ConnectionState``.
    public enum State: Sendable {
        /// It synchronises whenever the server can be reached.
        case active
        /// It was suspended, its user logged out, or it failed.
        case inactive
        /// Its file was deleted. A Realm opened later has a new session.
        case invalid
    }

    public enum ConnectionState: String, Sendable {
        case disconnected
        case connecting
        case connected
    }

    struct Situation {
        /// Has the user and the error handler.
        var configuration: SyncConfiguration
        /// The configuration that the session's Realm was opened with, for client resets.
        var realm: Realm.Configuration
        /// Whether a Realm of the file has been opened.
        var isOpened = false
        var isClosed = false
        var isSuspended = false
        /// The number of client resets. Changeset numbers can only be compared if no reset happened in between.
        var resets = 0
        /// What the app was told when the session stopped to let the app decide on a reset.
        var resetError: SyncError?
        /// Whether the app resumed the session after it was told of the reset.
        var isResetApproved = false
        /// The state before a reset, until the app has been told that the reset is complete.
        var beforeReset: FrozenBefore?
        /// The id of the last refusal that the app has been told of, or will be told of on the main queue.
        var toldThrough: Int64 = 0
        var connection = ConnectionState.disconnected
        var completedVersion: Int64 = -1
        /// Why the server refused sets, for the callers that wait for them.
        var refusedVersions: [Int64: String] = [:]
        var acknowledged: Int64 = 0
        var batches = 0
        var failure: SessionFailure?
        /// The number of tokens that the gateway refused since it last accepted one or the session was resumed.
        var refusedTokens = 0
        var nextID = 0
        var progress = ProgressObservers()
        var subscriptionObservers: [Int: @Sendable (SyncSession) -> Void] = [:]
        /// Conditions checked after every report. A waiter resumes when its condition is true.
        var waiters:
            [Int: (isDone: @Sendable (Situation) throws -> Bool, continuation: CheckedContinuation<Void, any Error>)] =
                [:]
    }

    /// Shared by the engine's thread, on which reports arrive, and the app's threads.
    final class SharedSituation: Sendable {
        let value: Mutex<Situation>

        init(_ situation: Situation) { value = Mutex(situation) }
    }

    /// How many new tokens the session tries before it gives up.
    static let maximumRefusedTokens = 3
    /// How long the session waits before it asks for a token again if the server couldn't be reached.
    static let tokenRetryInterval = Duration.seconds(5)

    let path: String
    private let schema: Schema
    private let url: URL
    private let relay: Relay
    private let observers: FileObservers
    private let observer: Int
    let engine: SyncEngine
    let situation: SharedSituation
    let subscriptionFile: SubscriptionBox

    private init(path: String, schema: Schema, configuration: SyncConfiguration, realm: Realm.Configuration) throws {
        self.path = path
        self.schema = schema
        url = try configuration.user.app.configuration.syncURL()
        let situation = SharedSituation(Situation(configuration: configuration, realm: realm))
        self.situation = situation
        let relay = Relay()
        self.relay = relay
        let engine = try SyncEngine(
            configuration: .init(
                url: url, trustedCertificates: configuration.user.app.configuration.trustedCertificates,
                accessToken: {
                    try await situation.value.withLock { $0.configuration.user }.freshAccessToken()
                },
                partition: configuration.partition?.value, file: path),
            makeStore: { try SQLiteDeviceStore(path: path, schema: schema) },
            resets: .init(
                decide: { relay.session?.decideReset($0) ?? .stop }, willApply: { relay.session?.willReset() },
                didApply: { relay.session?.didReset() },
                recoveryFailed: { relay.session?.decideFailedRecovery($0) ?? .stop }),
            onReport: { relay.session?.receive($0) })
        self.engine = engine
        subscriptionFile = SubscriptionBox(try SubscriptionFile(path: path, schema: schema))
        observers = FileObservers.shared(for: path)
        observer = observers.add { _ in
            Task {
                await engine.changesetQueued()
                await relay.session?.reportUpload()
            }
        }
        relay.set(self)
        if configuration.user.isLoggedIn { resume() } else { situation.value.withLock { $0.isSuspended = true } }
    }

    /// The current configuration.
    public func configuration() -> SyncConfiguration? {
        situation.value.withLock { $0.isClosed ? nil : $0.configuration }
    }

    /// The user whose session it is; nil once it's invalid.
    public func parentUser() -> User? { configuration()?.user }

    // MARK: One session for each file

    private static let all = Mutex<[PathKey: SyncSession]>([:])

    /// Returns the file's session, and starts it when it's first requested. Opening a Realm later ends a suspension.
    static func session(
        path: String, schema: Schema, configuration: SyncConfiguration, realm: Realm.Configuration
    ) throws -> SyncSession {
        let session = try all.withLock { sessions in
            if let session = sessions[PathKey(path)] { return session }
            let session = try SyncSession(path: path, schema: schema, configuration: configuration, realm: realm)
            sessions[PathKey(path)] = session
            return session
        }
        session.adopt(configuration, realm)
        session.tellRefusalsLater()
        return session
    }

    /// Prepares for opening a file: closes its session if the session has other classes and no Realm in the process
    /// uses it.
    /// - Throws: ``Realm/Error`` with the code `incompatibleSession` if the file is synchronised for another user.
    static func makeWay(path: String, schema: Schema, configuration: SyncConfiguration) throws {
        guard let session = all.withLock({ $0[PathKey(path)] }), let old = session.parentUser() else { return }
        let new = configuration.user
        let url = try new.app.configuration.syncURL()
        guard old.id == new.id, session.url == url else {
            throw Realm.Error(
                .incompatibleSession,
                "'\(path)' is already synchronised for user '\(old.id)' with \(session.url), not for '\(new.id)' with "
                    + "\(url). Give each user their own file, as user.flexibleSyncConfiguration() does, or delete this "
                    + "one first.")
        }
        if session.schema != schema { remove(path: path)?.close() }
    }

    static func sessions(of user: User) -> [SyncSession] {
        all.withLock { Array($0.values) }.filter { $0.parentUser() == user }
    }

    static func all(where isWanted: (SyncConfiguration) -> Bool) -> [SyncSession] {
        all.withLock { Array($0.values) }.filter { $0.configuration().map(isWanted) ?? false }
    }

    /// The session of a file, or nil if there's none.
    static func known(path: String) -> SyncSession? { all.withLock { $0[PathKey(path)] } }

    /// Removes the session of a file that is about to be deleted; nil if there is none. The caller closes the session.
    static func remove(path: String) -> SyncSession? { all.withLock { $0.removeValue(forKey: PathKey(path)) } }

    /// Adopts the settings of the most recently opened Realm.
    private func adopt(_ configuration: SyncConfiguration, _ realm: Realm.Configuration) {
        let (isOtherUser, isSuspended) = situation.value.withLock { state in
            let handler = configuration.errorHandler ?? state.configuration.errorHandler
            let isOther = state.configuration.user !== configuration.user
            state.configuration = configuration
            state.configuration.errorHandler = handler
            state.realm = realm
            return (isOther, state.isSuspended)
        }
        if configuration.user.isLoggedIn, isOtherUser || isSuspended { resume() }
    }

    /// Whether this is the first call, made for the session's first Realm.
    func takeFirstOpening() -> Bool {
        situation.value.withLock { state in
            defer { state.isOpened = true }
            return !state.isOpened
        }
    }

    /// Closes the session, as if its file were deleted.
    func closeFile() {
        _ = Self.remove(path: path)
        close()
    }

    /// Stops for good and closes the file. Waiters get an error.
    func close() {
        observers.remove(observer)
        engine.close()
        relay.set(nil)
        subscriptionFile.close()
        situation.value.withLock { state in
            state.isClosed = true
            Self.releaseWaiters(&state)
        }
    }

    // MARK: State

    /// Whether the session synchronises.
    public var state: State {
        situation.value.withLock { state in
            if state.isClosed { return .invalid }
            return state.isSuspended || state.failure != nil ? .inactive : .active
        }
    }

    /// The current state of the connection.
    public var connectionState: ConnectionState { situation.value.withLock { $0.connection } }

    /// Why the session stopped, or nil if it hasn't.
    public var error: SyncError? { situation.value.withLock { $0.resetError ?? $0.failure.map(SyncError.init) } }

    /// Goes offline until ``resume()`` is called or a Realm of the file is opened. Local writes continue and queue up.
    /// Calls that are waiting throw an error.
    public func suspend() {
        markSuspended()
        Task { await settle() }
    }

    package func suspendAndWait() async {
        markSuspended()
        await settle()
    }

    /// Makes the engine do what was asked for last. Calls and failures can overtake each other on the way to the
    /// engine's thread, so this reads the current situation. A failed session doesn't start again before it's resumed.
    /// Otherwise it would synchronise yet count as inactive: it would get no new token, and would tell nobody when its
    /// token is refused.
    func followSuspension(onThreadOf engine: isolated SyncEngine) {
        let (isSuspended, hasFailed) = situation.value.withLock { ($0.isSuspended, $0.failure != nil) }
        if isSuspended { engine.stop() } else if !hasFailed { engine.start() }
    }

    private func markSuspended() { situation.value.withLock { Self.suspend(&$0) } }

    static func suspend(_ state: inout Situation) {
        state.isSuspended = true
        failWaiters(&state, SyncError(.clientSessionError, "The session was suspended."))
    }

    /// Reconnects after ``suspend()`` or a failure.
    public func resume() {
        situation.value.withLock { Self.resume(&$0) }
        Task { await settle() }
    }

    private static func resume(_ state: inout Situation) {
        if state.resetError != nil { state.isResetApproved = true }
        state.resetError = nil
        state.failure = nil
        // Otherwise the session would fail again with the same token for as long as the token seems valid.
        state.refusedTokens = 0
        state.isSuspended = false
    }

    /// Connects at once if the session is waiting to retry.
    public func reconnect() {
        guard state == .active else { return }
        Task { await settle() }
    }

    /// Call this after the user logged in, which resumes the session, or logged out, which suspends it. Calls can
    /// arrive in a different order than the logins and logouts happened, so this checks the user's current state.
    func followLogin() {
        situation.value.withLock { state in
            if state.configuration.user.isLoggedIn { Self.resume(&state) } else { Self.suspend(&state) }
        }
        Task { await settle() }
    }

    /// Waits until the engine has done what was asked for last.
    func settle() async { await followSuspension(onThreadOf: engine) }

    /// Stops until ``resume()``.
    func fail(_ failure: SessionFailure) {
        situation.value.withLock { state in
            state.failure = failure
            Self.releaseWaiters(&state)
        }
    }

    /// Stops because the server logged the user out.
    /// - Returns: the error to ``report(_:)`` once the user is also logged out here.
    func endLogin(_ reason: String) -> SyncError {
        let failure = SessionFailure(.notAuthenticated, reason)
        fail(failure)
        return SyncError(failure)
    }

    // MARK: Progress

    /// Calls `block` with the progress of uploads or downloads on one of the session's threads, first at once if the
    /// progress is known.
    /// - Returns: a token that ends the notifications. With `forCurrentlyOutstandingWork` they also end when that work
    ///   is done.
    @discardableResult
    public func addProgressNotification(
        for direction: ProgressDirection, mode: ProgressMode, block: @escaping @Sendable (Progress) -> Void
    ) -> ProgressNotificationToken? {
        let (id, calls) = situation.value.withLock { state in
            state.nextID += 1
            state.progress.add(state.nextID, direction, isOneShot: mode == .forCurrentlyOutstandingWork, block)
            let isDownloaded = direction == .download && state.connection == .connected && state.batches > 0
            return (state.nextID, isDownloaded ? state.progress.downloaded() : [])
        }
        for (block, progress) in calls { block(progress) }
        if direction == .upload { Task { await reportUpload() } }
        return ProgressNotificationToken { [situation] in situation.value.withLock { $0.progress.remove(id) } }
    }

    func reportUpload() async { await reportUpload(onThreadOf: engine) }

    /// Runs on one thread, so that the last report is the newest.
    private func reportUpload(onThreadOf engine: isolated SyncEngine) {
        guard situation.value.withLock({ $0.progress.wantsUploads }), let state = try? engine.state() else { return }
        let calls = situation.value.withLock {
            $0.progress.uploading(acknowledged: state.acknowledged, last: state.lastChangeset)
        }
        for (block, progress) in calls { block(progress) }
    }

    // MARK: Reports

    func receive(_ report: ClientSession.Report) {
        var errors: [SyncError] = []
        var calls: ProgressObservers.Calls = []
        var needsToken = false
        situation.value.withLock { state in
            switch report {
            case .connection(let connection):
                let before = state.connection
                state.connection = ConnectionState(rawValue: connection.rawValue) ?? .disconnected
                if state.connection != .connected { state.batches = 0 }
                if state.connection == .disconnected, before == .connecting,
                    state.configuration.cancelAsyncOpenOnNonFatalErrors
                {
                    Self.failWaiters(&state, SyncError(.connectionFailed, "Can't connect to \(url)."))
                }
            case .download(let received, let total): calls = state.progress.downloading(received, of: total)
            case .subscriptionsComplete(let version):
                state.completedVersion = version
                state.batches += 1
                state.refusedTokens = 0
                calls = state.progress.downloaded()
            case .subscriptionsRefused(let version, let failure):
                state.refusedVersions[version] = failure.message
            case .acknowledged(let number): state.acknowledged = number
            case .refused: break
            case .reset:
                state.resets += 1
                state.acknowledged = 0
                state.completedVersion = -1
                state.progress.startOver()
            case .failure(let failure) where failure.code == .unavailable && failure.isRetryable:
                // This is like a lost connection: the session reconnects by itself.
                if state.configuration.cancelAsyncOpenOnNonFatalErrors {
                    Self.failWaiters(&state, SyncError(.connectionFailed, failure.message))
                }
            case .failure(let failure):
                needsToken =
                    failure.code == .notAuthenticated && !failure.isRetryable
                    && state.refusedTokens < Self.maximumRefusedTokens
                    && state.configuration.user.refreshToken != nil
                if needsToken {
                    state.refusedTokens += 1
                } else {
                    if !failure.isRetryable { state.failure = failure }
                    errors.append(SyncError(failure))
                }
            }
            Self.releaseWaiters(&state)
        }
        for (block, progress) in calls { block(progress) }
        switch report {
        case .subscriptionsComplete:
            tellSubscriptionObservers()
        case .subscriptionsRefused: tellSubscriptionObservers()
        case .reset:
            tellSubscriptionObservers()
            Task { await reportUpload() }
        case .acknowledged: Task { await reportUpload() }
        case .refused: tellRefusals()
        default: break
        }
        if needsToken { Task { await replaceToken() } }
        for error in errors { self.report(error) }
    }

    /// Gets a new access token and connects with it.
    func replaceToken() async {
        while let user = parentUser(), state == .active {
            do {
                _ = try await user.refreshAccessToken()
                // The session may have been suspended in the meantime.
                return await settle()
            } catch let error as AppError where error.status == 401 || error.status == 403 {
                return
            } catch {
                try? await Task.sleep(for: Self.tokenRetryInterval)
            }
        }
    }

    /// Tells the app of an error that occurred outside the app's own calls.
    func report(_ error: SyncError) {
        guard let configuration = configuration() else { return }
        if let handler = configuration.errorHandler {
            handler(error, self)
        } else {
            configuration.user.app.syncManager.report(error, self)
        }
    }

    /// Breaks the reference cycle between a session and its engine's callback.
    private final class Relay: Sendable {
        private let reference = Mutex<SyncSession?>(nil)

        var session: SyncSession? { reference.withLock { $0 } }

        func set(_ session: SyncSession?) { reference.withLock { $0 = session } }
    }
}
