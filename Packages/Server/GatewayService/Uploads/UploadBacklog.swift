internal import Synchronization

/// How much was uploaded that the feed has not told anybody yet. Uploads wait while it is much: a feed that falls behind them
/// would get ticks that are too large to keep, and every session would have to read the changelog for itself.
///
/// A bound on what is committed but not told, not on what is written in a second: uploads go as fast as the feed.
final class UploadBacklog: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Instructions that may be committed and not told, and the same with those under way: what a user's transactions that
    /// wait for rows hold leaves room for others. Together they are less than the feed keeps in memory.
    static let maximum = (ended: TickFeed.maximumChangeCount / 4, inAll: TickFeed.maximumChangeCount * 3 / 4)
    /// Uploads wait no longer for a feed that says nothing: it may have lost the database, or what was uploaded changed
    /// nothing.
    static let patience = Duration.seconds(2)

    private struct State {
        /// Instructions of transactions under way.
        var underWay = 0
        /// Since the start: instructions of transactions that have ended, and how many of them the feed has told since.
        var ended = 0
        var told = 0
        var toldAt: Instant

        var isFull: Bool {
            ended - told >= UploadBacklog.maximum.ended
                || underWay + ended - told >= UploadBacklog.maximum.inAll
        }
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
            guard state.isFull else { return false }
            guard state.toldAt.duration(to: now()) >= Self.patience else { return true }
            state.told = state.ended
            state.toldAt = now()
            return false
        }
    }

    /// A transaction of so many instructions begins.
    func begin(_ instructionCount: Int) {
        state.withLock { state in
            // Nothing was waited for.
            if state.underWay == 0, state.ended == state.told { state.toldAt = now() }
            state.underWay += instructionCount
        }
    }

    /// It has ended, committed or not.
    func end(_ instructionCount: Int) {
        state.withLock { state in
            state.underWay -= instructionCount
            state.ended += instructionCount
        }
    }

    /// What has ended before the feed looks for the newest tick; for ``tell(_:)`` once it has told it.
    var mark: Int { state.withLock { $0.ended } }

    /// The feed has told what there was.
    /// - Returns: whether uploads that wait may go on.
    func tell(_ mark: Int) -> Bool {
        state.withLock { state in
            let wasFull = state.isFull
            state.told = max(state.told, mark)
            state.toldAt = now()
            return wasFull && !state.isFull
        }
    }
}
