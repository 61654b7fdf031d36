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

    /// Somebody's waiting has come to an end.
    struct Granted {
        let waiter: CheckedContinuation<Grant, any Error>
        let grant: Grant
    }

    enum Return {
        case kept([Granted])
        case close(waitingForEmpty: [CheckedContinuation<Void, Never>])
    }

    private struct Waiter {
        let id: UInt64
        let borrower: PostgresBorrower?
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Grant, any Error>
    }

    let maximumConnections: Int
    let maximumWaiters: Int
    private var slots = 0
    private var shares: PostgresShares
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
        shares = PostgresShares(maximumConnections: maximumConnections)
    }

    var statistics: PostgresPool.Statistics {
        .init(idle: idle.count, inUse: slots - idle.count, waiting: waiters.count)
    }

    mutating func makeWaiterID() -> UInt64 {
        waiterCount += 1
        return waiterCount
    }

    mutating func request(
        id: UInt64, for borrower: PostgresBorrower?, deadline: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Grant, any Error>
    ) -> Decision {
        if isShutDown { return .refused(.shutDown) }
        if shares.allows(borrower), let grant = take() {
            shares.take(borrower)
            return .granted(grant)
        }
        guard waiters.count < maximumWaiters, mayWait(borrower) else {
            return .refused(.tooManyWaiters(limit: maximumWaiters))
        }
        waiters.append(Waiter(id: id, borrower: borrower, deadline: deadline, continuation: continuation))
        defer { timerRuns = true }
        return .queued(startTimer: !timerRuns)
    }

    /// No user takes more than half of the places to wait in.
    private func mayWait(_ borrower: PostgresBorrower?) -> Bool {
        guard let borrower, waiters.count >= maximumWaiters / 2 else { return true }
        return waiters.count { $0.borrower?.holder == borrower.holder } < max(1, maximumWaiters / 2)
    }

    /// A free connection, or leave to open one.
    private mutating func take() -> Grant? {
        if let connection = idle.popLast() {
            lent[ObjectIdentifier(connection)] = connection
            return .connection(connection)
        }
        guard slots < maximumConnections else { return nil }
        slots += 1
        return .slot
    }

    /// Lends what is free. The waiter whose user holds fewest connections is first; of equals, the one who came first.
    private mutating func settle() -> [Granted] {
        var granted: [Granted] = []
        while !waiters.isEmpty, !idle.isEmpty || slots < maximumConnections {
            let allowed = waiters.indices.filter { shares.allows(waiters[$0].borrower) }
            let next = allowed.min { shares.count(of: waiters[$0].borrower) < shares.count(of: waiters[$1].borrower) }
            guard let next, let grant = take() else { break }
            let waiter = waiters.remove(at: next)
            shares.take(waiter.borrower)
            granted.append(Granted(waiter: waiter.continuation, grant: grant))
        }
        return granted
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

    mutating func giveBack(_ connection: PostgresConnection, from borrower: PostgresBorrower?) -> Return {
        lent[ObjectIdentifier(connection)] = nil
        shares.giveBack(borrower)
        if isShutDown {
            slots -= 1
            return .close(waitingForEmpty: takeWaitingForEmpty())
        }
        idle.append(connection)
        return .kept(settle())
    }

    /// A counted slot has lost its connection.
    mutating func freeSlot(
        of borrower: PostgresBorrower?
    ) -> (granted: [Granted], waitingForEmpty: [CheckedContinuation<Void, Never>]) {
        slots -= 1
        shares.giveBack(borrower)
        return isShutDown ? ([], takeWaitingForEmpty()) : (settle(), [])
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
