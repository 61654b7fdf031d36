/// Tracks connections and the requests that wait for them. Pure bookkeeping under the pool's lock: it doesn't open,
/// close or resume anything itself.
///
/// `slots` counts connections that are open or being opened; it never exceeds `maximumConnections`. A slot is idle,
/// lent, or being opened by a task that was granted it.
///
/// `Request` identifies a waiting request.
struct PostgresPoolState<Connection: AnyObject & Sendable, Request> {
    typealias Grant = PostgresGrant<Connection>

    enum Decision {
        case granted(Grant)
        case refused(PostgresPoolError)
        case cancelled
        /// The first request to wait starts the timer.
        case queued(startTimer: Bool)
    }

    /// A waiting request and what it was granted.
    struct Granted {
        let request: Request
        let grant: Grant
    }

    enum Return {
        case kept([Granted])
        case close(waitingForEmpty: [CheckedContinuation<Void, Never>])
    }

    let maximumConnections: Int
    let maximumWaiters: Int
    private var slots = 0
    private var shares = PostgresShares()
    /// Last in, first out, so that a small load keeps few connections busy.
    private var idle: [Connection] = []
    private(set) var lent: [ObjectIdentifier: Connection] = [:]
    private var waiting = PostgresWaitingList<Request>()
    private var lastID: UInt64 = 0
    private var timerRuns = false
    private(set) var isShutDown = false
    private var waitingForEmpty: [CheckedContinuation<Void, Never>] = []

    init(maximumConnections: Int, maximumWaiters: Int) {
        self.maximumConnections = maximumConnections
        self.maximumWaiters = maximumWaiters
    }

    var statistics: PostgresPool.Statistics {
        .init(idle: idle.count, inUse: slots - idle.count, waiting: waiting.count)
    }

    /// The number of connections that are idle or may still be opened.
    private var free: Int { maximumConnections - slots + idle.count }

    mutating func makeWaiterID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func request(
        id: UInt64, for borrower: PostgresBorrower?, deadline: ContinuousClock.Instant, _ request: Request
    ) -> Decision {
        if isShutDown { return .refused(.shutDown) }
        // The waiting requests aren't allowed to take the free connections, so this one needn't queue behind them.
        if shares.allows(borrower, free: free) { return .granted(take(for: borrower)) }
        guard waiting.count < maximumWaiters, mayWait(borrower) else {
            return .refused(.tooManyWaiters(limit: maximumWaiters))
        }
        waiting.append(.init(id: id, borrower: borrower, deadline: deadline, request: request))
        defer { timerRuns = true }
        return .queued(startTimer: !timerRuns)
    }

    /// No user takes more than half of the waiting places.
    private func mayWait(_ borrower: PostgresBorrower?) -> Bool {
        guard borrower != nil, waiting.count >= maximumWaiters / 2 else { return true }
        return waiting.count(of: borrower) < max(1, maximumWaiters / 2)
    }

    /// Takes a free connection, or permission to open one. There must be one.
    private mutating func take(for borrower: PostgresBorrower?) -> Grant {
        shares.take(borrower)
        if let connection = idle.popLast() {
            lent[ObjectIdentifier(connection)] = connection
            return .connection(connection)
        }
        slots += 1
        return .slot
    }

    /// Lends free connections to the waiting borrowers who may have them, in turn.
    private mutating func settle() -> [Granted] {
        var granted: [Granted] = []
        while let next = waiting.next(shares, free: free) {
            granted.append(Granted(request: next.request, grant: take(for: next.borrower)))
        }
        return granted
    }

    mutating func removeWaiter(_ id: UInt64) -> Request? { waiting.remove(id)?.request }

    /// The time at which the next request gives up, or nil if none waits. The timer then ends.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
        let next = waiting.nextDeadline
        if next == nil { timerRuns = false }
        return next
    }

    mutating func expire(now: ContinuousClock.Instant) -> [Request] { waiting.expire(now: now) }

    /// Records a connection opened for a granted slot. Returns false if the pool was shut down meanwhile.
    mutating func lend(_ connection: Connection) -> Bool {
        guard !isShutDown else { return false }
        lent[ObjectIdentifier(connection)] = connection
        return true
    }

    /// Forgets a connection. Its slot stays counted until `freeSlot`.
    mutating func forget(_ connection: Connection) {
        lent[ObjectIdentifier(connection)] = nil
    }

    mutating func giveBack(_ connection: Connection, from borrower: PostgresBorrower?) -> Return {
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

    mutating func shutDown() -> (refused: [Request], idle: [Connection]) {
        isShutDown = true
        defer {
            slots -= idle.count
            idle = []
            waiting = PostgresWaitingList()
        }
        return (waiting.all, idle)
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
