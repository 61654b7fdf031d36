/// Bounds what one user's uploads take from everybody else while others are connected: a transaction takes about a ``slice``
/// of time, and, beyond a burst, a user's transactions take no more than a share of the time. Nothing is refused: it comes
/// late. Pure bookkeeping: the time is a parameter.
struct UploadPace {
    typealias Instant = ContinuousClock.Instant

    /// How long a transaction should take. What others commit meanwhile comes later by about as much, and by what the feed
    /// needs for the tick.
    static let slice = Duration.milliseconds(5)
    /// A user whose transactions took a second can begin the next when this many seconds have passed since, once ``burst``
    /// is used up.
    static let costFactor = 5
    /// What a user's transactions may cost before the next one waits, ``costFactor`` included.
    static let burst = Duration.seconds(1)
    /// The longest that a user's next transaction waits for the ones before.
    static let maximumDebt = Duration.seconds(10)
    /// Bounds of ``instructionCount``: smaller transactions would cost more than they save.
    static let instructionCounts = 100...UploadQueue.maximumGroupInstructionCount
    /// What a transaction costs at most: one that waited for rows or the disk took nothing from others meanwhile. The gateway
    /// can't tell from these one that looks far back for what plain SQL inserted. It's undercharged: with all that the store
    /// looks through at most, a small changeset takes PostgreSQL 30 to 40 ms, and counts for 5.
    static let maximumCost = (transaction: slice, instruction: Duration.microseconds(200))
    /// So many bytes count as an instruction more: one may have a text of 16 MiB, which PostgreSQL writes for half a second.
    static let byteCountOfInstruction = 8 << 10

    /// Instructions that lately took a slice. The first transactions are the slowest.
    private(set) var instructionCount = instructionCounts.lowerBound
    /// When what a user's transactions cost has been paid for. Of those who have something to pay for.
    private var paidAt: [String: Instant] = [:]

    /// Users who are remembered.
    var userCount: Int { paidAt.count }

    /// As how many instructions changesets count: by their number and their size.
    static func load(instructionCount: Int, byteCount: Int) -> Int {
        instructionCount + byteCount / byteCountOfInstruction
    }

    /// When a user's next transaction may begin, or nil for now.
    func wait(of user: String, at now: Instant) -> Instant? {
        guard let time = paidAt[user].map({ $0 - Self.burst }), time > now else { return nil }
        return time
    }

    /// A transaction has ended.
    /// - Parameter loads: of each of its users; see ``load(instructionCount:byteCount:)``.
    mutating func finish(_ loads: [String: Int], took: Duration, at now: Instant) {
        let count = max(1, loads.values.reduce(0, +))
        paidAt = paidAt.filter { $0.value > now }
        let cost = min(took, Self.maximumCost.transaction + Self.maximumCost.instruction * count) * Self.costFactor
        for (user, own) in loads {
            let paid = max(paidAt[user] ?? now, now) + cost * (Double(own) / Double(count))
            paidAt[user] = min(paid, now + Self.burst + Self.maximumDebt)
        }
        adapt(count, took)
    }

    /// Towards what would have taken a slice, by no more than half or twice at a time. A small transaction that was quick
    /// enough tells nothing.
    private mutating func adapt(_ count: Int, _ took: Duration) {
        let factor = min(2, max(0.5, Self.slice / max(took, .microseconds(1))))
        guard factor < 1 || count * 2 > instructionCount else { return }
        let wanted = Int(Double(instructionCount) * factor)
        // Halfway: how long a transaction takes depends on what else is going on.
        let next = (instructionCount + wanted) / 2
        instructionCount = min(max(next, Self.instructionCounts.lowerBound), Self.instructionCounts.upperBound)
    }
}
