internal import Synchronization

/// How much was uploaded that the feed has not told anybody yet. Uploads wait while it is much: a feed that falls behind them
/// would get ticks that are too large to keep, and every session would have to read the changelog for itself.
///
/// A bound on what is committed but not told, not on what is written in a second: uploads go as fast as the feed.
final class UploadBacklog: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Instructions that may be committed and not told: half of what the feed keeps in memory.
    static let maximumInstructionCount = TickFeed.maximumChangeCount / 2
    /// Uploads wait no longer for a feed that says nothing: it may have lost the database, or what was uploaded changed
    /// nothing.
    static let patience = Duration.seconds(2)

    private struct State {
        /// Since the start: instructions of transactions that were begun, and of those that the feed has told since.
        var begun = 0
        var told = 0
        var toldAt: Instant
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant = { .now }) {
        self.now = now
        state = Mutex(State(toldAt: now()))
    }

    /// Whether uploads have to wait.
    var isFull: Bool {
        state.withLock { state in
            guard state.begun - state.told >= Self.maximumInstructionCount else { return false }
            guard state.toldAt.duration(to: now()) >= Self.patience else { return true }
            state.told = state.begun
            state.toldAt = now()
            return false
        }
    }

    /// A transaction of so many instructions begins.
    func begin(_ instructionCount: Int) {
        state.withLock { state in
            // Nothing was waited for.
            if state.begun == state.told { state.toldAt = now() }
            state.begun += instructionCount
        }
    }

    /// What was begun before the feed looks for the newest tick; for ``tell(_:)`` once it has told it.
    var mark: Int { state.withLock { $0.begun } }

    /// The feed has told what there was.
    /// - Returns: whether uploads that wait may go on.
    func tell(_ mark: Int) -> Bool {
        state.withLock { state in
            let wasFull = state.begun - state.told >= Self.maximumInstructionCount
            state.told = max(state.told, mark)
            state.toldAt = now()
            return wasFull && state.begun - state.told < Self.maximumInstructionCount
        }
    }
}
