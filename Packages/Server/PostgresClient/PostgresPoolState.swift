/// Tracks connections and waiters. Pure bookkeeping under the pool's lock: it doesn't open, close or resume anything
/// itself.
///
/// `slots` counts connections that are open or being opened; it never exceeds `maximumConnections`. A slot is idle,
/// lent, or being opened by a task that was granted it.
struct PostgresPoolState {
    enum Grant {
        /// A connection, idle or from its last user.
        case connection(PostgresConnection)
        /// Permission to open a connection.
        case slot
    }

    enum Decision {
        case granted(Grant)
        case refused(PostgresPoolError)
        case cancelled
        /// The first waiter starts the timer.
        case queued(startTimer: Bool)
    }

    enum Return {
        case kept
        case lent(to: CheckedContinuation<Grant, any Error>)
        case close(waitingForEmpty: [CheckedContinuation<Void, Never>])
    }

    private struct Waiter {
        let id: UInt64
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Grant, any Error>
    }

    let maximumConnections: Int
    let maximumWaiters: Int
    private var slots = 0
    /// Last in, first out, so that a small load keeps few connections busy.
    private var idle: [PostgresConnection] = []
    private(set) var lent: [ObjectIdentifier: PostgresConnection] = [:]
    /// In order of arrival.
    private var waiters: [Waiter] = []
    private var waiterCount: UInt64 = 0
    private var timerRuns = false
    private(set) var isShutDown = false
    private var waitingForEmpty: [CheckedContinuation<Void, Never>] = []

    init(maximumConnections: Int, maximumWaiters: Int) {
        self.maximumConnections = maximumConnections
        self.maximumWaiters = maximumWaiters
    }

    var statistics: PostgresPool.Statistics {
        .init(idle: idle.count, inUse: slots - idle.count, waiting: waiters.count)
    }

    mutating func makeWaiterID() -> UInt64 {
        waiterCount += 1
        return waiterCount
    }

    mutating func request(
        id: UInt64, deadline: ContinuousClock.Instant, _ continuation: CheckedContinuation<Grant, any Error>
    ) -> Decision {
        if isShutDown { return .refused(.shutDown) }
        if let connection = idle.popLast() {
            lent[ObjectIdentifier(connection)] = connection
            return .granted(.connection(connection))
        }
        if slots < maximumConnections {
            slots += 1
            return .granted(.slot)
        }
        guard waiters.count < maximumWaiters else { return .refused(.tooManyWaiters(limit: maximumWaiters)) }
        waiters.append(Waiter(id: id, deadline: deadline, continuation: continuation))
        defer { timerRuns = true }
        return .queued(startTimer: !timerRuns)
    }

    mutating func removeWaiter(_ id: UInt64) -> CheckedContinuation<Grant, any Error>? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: index).continuation
    }

    /// The next waiter's deadline, or nil if nobody waits; the timer then ends.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
        if waiters.isEmpty { timerRuns = false }
        return waiters.first?.deadline
    }

    mutating func expire(now: ContinuousClock.Instant) -> [CheckedContinuation<Grant, any Error>] {
        let expired = waiters.filter { $0.deadline <= now }
        waiters.removeAll { $0.deadline <= now }
        return expired.map(\.continuation)
    }

    /// Records a connection opened for a granted slot. Returns false if the pool was shut down meanwhile.
    mutating func lend(_ connection: PostgresConnection) -> Bool {
        guard !isShutDown else { return false }
        lent[ObjectIdentifier(connection)] = connection
        return true
    }

    /// Forgets a connection. Its slot stays counted until `freeSlot`.
    mutating func forget(_ connection: PostgresConnection) {
        lent[ObjectIdentifier(connection)] = nil
    }

    mutating func giveBack(_ connection: PostgresConnection) -> Return {
        if isShutDown {
            lent[ObjectIdentifier(connection)] = nil
            slots -= 1
            return .close(waitingForEmpty: takeWaitingForEmpty())
        }
        if waiters.isEmpty {
            lent[ObjectIdentifier(connection)] = nil
            idle.append(connection)
            return .kept
        }
        return .lent(to: waiters.removeFirst().continuation)
    }

    mutating func freeSlot() -> (
        waiter: CheckedContinuation<Grant, any Error>?, waitingForEmpty: [CheckedContinuation<Void, Never>]
    ) {
        if !isShutDown, !waiters.isEmpty { return (waiters.removeFirst().continuation, []) }
        slots -= 1
        return (nil, takeWaitingForEmpty())
    }

    mutating func shutDown() -> (
        refused: [CheckedContinuation<Grant, any Error>], idle: [PostgresConnection]
    ) {
        isShutDown = true
        defer {
            slots -= idle.count
            idle = []
            waiters = []
        }
        return (waiters.map(\.continuation), idle)
    }

    /// Returns true if there's nothing to wait for.
    mutating func waitUntilEmpty(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard slots > 0 else { return true }
        waitingForEmpty.append(continuation)
        return false
    }

    private mutating func takeWaitingForEmpty() -> [CheckedContinuation<Void, Never>] {
        guard isShutDown, slots == 0 else { return [] }
        defer { waitingForEmpty = [] }
        return waitingForEmpty
    }
}
