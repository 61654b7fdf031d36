/// Limits how much one user's uploads take from everybody else while others are connected. A transaction takes about
/// one ``slice`` of time and, beyond a burst, a user's transactions take no more than a share of the time. Nothing is
/// refused, only delayed. Pure bookkeeping: the time is a parameter.
struct UploadPace {
    typealias Instant = ContinuousClock.Instant

    /// How long a transaction should take. What others commit meanwhile is delayed by about as much, plus the time
    /// that the feed needs for the tick.
    static let slice = Duration.milliseconds(5)
    /// Once ``burst`` is used up, a user whose transactions took a second can start the next one this many seconds
    /// after they ended.
    static let costFactor = 5
    /// What a user's transactions may cost before the next one waits, with ``costFactor`` applied.
    static let burst = Duration.seconds(1)
    /// The longest that a user's next transaction waits for previous ones.
    static let maximumDebt = Duration.seconds(10)
    /// The range of ``instructionCount``. Smaller transactions would cost more than they save.
    static let instructionCounts = 100...UploadQueue.maximumGroupInstructionCount
    /// The most that a transaction costs, because one that waited for rows or the disk took nothing from others
    /// meanwhile. The gateway can't distinguish that from one that searches far back for rows inserted by plain SQL,
    /// which is therefore undercharged: at the limit of what the store searches, a small changeset takes PostgreSQL
    /// 30 to 40 ms but is charged as 5.
    static let maximumCost = (transaction: slice, instruction: Duration.microseconds(200))
    /// Every this many bytes count as another instruction: one instruction may have a text of 16 MiB, which takes
    /// PostgreSQL half a second to write.
    static let byteCountOfInstruction = 8 << 10

    /// The number of instructions that recently took one slice. The first transactions are the slowest.
    private(set) var instructionCount = instructionCounts.lowerBound
    /// When the cost of a user's transactions has been paid. Only for users who still have something to pay for.
    private var paidAt: [String: Instant] = [:]

    /// The number of users that are remembered.
    var userCount: Int { paidAt.count }

    /// How many instructions changesets count as, by their number and their size.
    static func load(instructionCount: Int, byteCount: Int) -> Int {
        instructionCount + byteCount / byteCountOfInstruction
    }

    /// When a user's next transaction may begin, or nil for now.
    func wait(of user: String, at now: Instant) -> Instant? {
        guard let time = paidAt[user].map({ $0 - Self.burst }), time > now else { return nil }
        return time
    }

    /// Records that a transaction has ended.
    /// - Parameter loads: the load of each of its users; see ``load(instructionCount:byteCount:)``.
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

    /// Moves ``instructionCount`` towards the number that would have taken one slice, by a factor of two at most. A
    /// small transaction that was fast enough says nothing.
    private mutating func adapt(_ count: Int, _ took: Duration) {
        let factor = min(2, max(0.5, Self.slice / max(took, .microseconds(1))))
        guard factor < 1 || count * 2 > instructionCount else { return }
        let wanted = Int(Double(instructionCount) * factor)
        // Only half of the way, because a transaction's duration depends on what else is going on.
        let next = (instructionCount + wanted) / 2
        instructionCount = min(max(next, Self.instructionCounts.lowerBound), Self.instructionCounts.upperBound)
    }
}
