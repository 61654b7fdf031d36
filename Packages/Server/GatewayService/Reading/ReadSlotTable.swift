/// Who holds the slots for reading, and who waits for one. Pure bookkeeping: the time is a parameter.
///
/// A free slot goes to the waiting user who holds the fewest, in order of arrival among equals, and one user holds no
/// more than ``maximumPerUser``. A holder whose device takes next to nothing for ``patience`` loses its slot where
/// another read could use it.
struct ReadSlotTable {
    typealias Instant = ContinuousClock.Instant

    /// How long a device may take next to nothing while others wait.
    static let patience = Duration.seconds(2)
    /// What a device has to take within ``patience``, in bytes: less than the slowest mobile network carries, more than
    /// a device that only pretends to read would have to.
    static let minimumProgressByteCount = 4 << 10

    private struct Holder {
        let user: String
        /// Since when the device has taken next to nothing, and what it had taken then.
        var since: Instant
        var takenByteCount = 0
        var isRevoked = false
    }

    let count: Int
    /// Half of the slots: one user's devices leave room for those of others.
    let maximumPerUser: Int
    private var holders: [Int: Holder] = [:]
    /// In order of arrival.
    private var waiting: [(id: Int, user: String)] = []

    init(count: Int) {
        self.count = count
        maximumPerUser = max(1, count / 2)
    }

    var hasWaiting: Bool { !waiting.isEmpty }
    var waitingCount: Int { waiting.count }
    var usedCount: Int { holders.count }

    /// A read wants a slot. Returns the reads that get one now, this one perhaps.
    mutating func request(_ id: Int, user: String, at now: Instant) -> [Int] {
        waiting.append((id, user))
        return grant(at: now)
    }

    /// A read has ended, or no longer waits. Returns the reads that get a slot now.
    mutating func leave(_ id: Int, at now: Instant) -> [Int] {
        holders[id] = nil
        waiting.removeAll { $0.id == id }
        return grant(at: now)
    }

    /// Notes how a holder gets on.
    mutating func note(_ progress: ReadProgress, of id: Int, at now: Instant) {
        guard let holder = holders[id] else { return }
        let isEnough = progress.takenByteCount >= holder.takenByteCount + Self.minimumProgressByteCount
        guard !progress.isWaitingForDevice || isEnough else { return }
        holders[id]?.since = now
        holders[id]?.takenByteCount = progress.takenByteCount
    }

    /// The holders that have to give their slots up now, the one that has stood still longest first: no more than there
    /// are waiting reads that could use them. Each is named once and keeps its slot until it leaves.
    mutating func revocations(at now: Instant) -> [Int] {
        var free = count - holders.count
        var held: [String: Int] = [:]
        for holder in holders.values {
            if holder.isRevoked { free += 1 } else { held[holder.user, default: 0] += 1 }
        }
        var left = waiting
        // Those whose slots are coming free anyway.
        while free > 0, let index = next(of: left, held) {
            held[left.remove(at: index).user, default: 0] += 1
            free -= 1
        }
        var revoked: [Int] = []
        let stalled = holders.filter { !$0.value.isRevoked && $0.value.since.duration(to: now) >= Self.patience }
        for (id, holder) in stalled.sorted(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }) {
            var without = held
            without[holder.user, default: 1] -= 1
            guard let index = next(of: left, without) else { continue }
            without[left.remove(at: index).user, default: 0] += 1
            held = without
            holders[id]?.isRevoked = true
            revoked.append(id)
        }
        return revoked
    }

    private mutating func grant(at now: Instant) -> [Int] {
        var granted: [Int] = []
        while holders.count < count {
            var held: [String: Int] = [:]
            for holder in holders.values { held[holder.user, default: 0] += 1 }
            guard let index = next(of: waiting, held) else { break }
            let read = waiting.remove(at: index)
            holders[read.id] = Holder(user: read.user, since: now)
            granted.append(read.id)
        }
        return granted
    }

    private func next(of waiting: [(id: Int, user: String)], _ held: [String: Int]) -> Int? {
        var found: (index: Int, held: Int)?
        for (index, read) in waiting.enumerated() {
            let count = held[read.user] ?? 0
            guard count < maximumPerUser, count < found?.held ?? .max else { continue }
            found = (index, count)
            if count == 0 { break }
        }
        return found?.index
    }
}
