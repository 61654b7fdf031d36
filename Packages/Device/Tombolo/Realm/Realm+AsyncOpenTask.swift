public import Dispatch
internal import Synchronization

extension Realm {
    /// A Realm being opened by ``Realm/asyncOpen(configuration:callbackQueue:callback:)``.
    public final class AsyncOpenTask: Sendable {
        private typealias Progress = (@Sendable (SyncSession.Progress) -> Void)

        private struct State {
            var isOver = false
            var session: SyncSession?
            /// Progress callbacks added before there was a session.
            var waiting: [Progress] = []
            var tokens: [SyncSession.ProgressNotificationToken] = []
            var cancellation: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        init() {}

        /// Cancels the opening: the callback is never called. Has no effect once the callback was called.
        public func cancel() { if let ended = finish() { ended.cancellation?() } }

        /// Calls `block` on a queue with the progress of the download, until the Realm is open.
        public func addProgressNotification(
            queue: DispatchQueue = .main, block: @escaping @Sendable (SyncSession.Progress) -> Void
        ) {
            let report: Progress = { progress in queue.async { block(progress) } }
            let session = state.withLock { state -> SyncSession? in
                if state.isOver { return nil }
                if state.session == nil { state.waiting.append(report) }
                return state.session
            }
            if let session { add(report, to: session) }
        }

        private func add(_ report: @escaping Progress, to session: SyncSession) {
            guard
                let token = session.addProgressNotification(
                    for: .download, mode: .reportIndefinitely, block: report)
            else { return }
            let isLate = state.withLock { state in
                if !state.isOver { state.tokens.append(token) }
                return state.isOver
            }
            if isLate { token.invalidate() }
        }

        // MARK: The opening's side

        /// Whether the session is connected to the gateway.
        package var isConnected: Bool { state.withLock { $0.session }?.connectionState == .connected }

        var isCancelled: Bool { state.withLock { $0.isOver } }

        /// Follows the download, which has begun.
        func follow(_ session: SyncSession) {
            let waiting = state.withLock { state in
                state.session = session
                defer { state.waiting = [] }
                return state.waiting
            }
            for report in waiting { add(report, to: session) }
        }

        func onCancel(_ body: @escaping @Sendable () -> Void) {
            let isLate = state.withLock { state in
                if !state.isOver { state.cancellation = body }
                return state.isOver
            }
            if isLate { body() }
        }

        /// - Returns: false if the task was already over.
        func end() -> Bool { finish() != nil }

        /// - Returns: the state so far, or nil if the task was already over.
        private func finish() -> State? {
            let ended = state.withLock { state in
                defer { state = State(isOver: true) }
                return state
            }
            for token in ended.tokens { token.invalidate() }
            return ended.isOver ? nil : ended
        }
    }
}
