internal import Synchronization

/// How much was uploaded but not announced by the feed yet. Uploads wait while this is too much: a feed that falls
/// behind would get ticks that are too large to keep in memory, and every session would have to read the changelog
/// itself.
///
/// This bounds what is committed but not announced, not the write rate: uploads run as fast as the feed.
final class UploadBacklog: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The most instructions that may be committed but not announced, and the same plus those in progress. The
    /// difference leaves room for others while some user's transactions wait for rows. Together they are less than
    /// the feed keeps in memory.
    static let maximum = (ended: TickFeed.maximumChangeCount / 4, inAll: TickFeed.maximumChangeCount * 3 / 4)
    /// How long uploads wait for a feed that announces nothing: it may have lost the database, or the uploads changed
    /// nothing.
    static let patience = Duration.seconds(2)

    private struct State {
        /// Instructions of transactions in progress.
        var underWay = 0
        /// Since the start: instructions of transactions that have ended, and how many of them the feed has
        /// announced.
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

    /// A transaction with this many instructions begins.
    func begin(_ instructionCount: Int) {
        state.withLock { state in
            // Nothing was waiting to be announced.
            if state.underWay == 0, state.ended == state.told { state.toldAt = now() }
            state.underWay += instructionCount
        }
    }

    /// The transaction has ended, committed or not.
    func end(_ instructionCount: Int) {
        state.withLock { state in
            state.underWay -= instructionCount
            state.ended += instructionCount
        }
    }

    /// How much has ended before the feed looks up the newest tick. Pass it to ``tell(_:)`` once the feed has
    /// announced that tick.
    var mark: Int { state.withLock { $0.ended } }

    /// The feed has announced everything up to the mark.
    /// - Returns: whether waiting uploads may continue.
    func tell(_ mark: Int) -> Bool {
        state.withLock { state in
            let wasFull = state.isFull
            state.told = max(state.told, mark)
            state.toldAt = now()
            return wasFull && !state.isFull
        }
    }
}
