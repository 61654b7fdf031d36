/// Tracks which reads hold the slots, and which wait for one. Pure bookkeeping: the time is a parameter.
///
/// A free slot goes to the place (``Peer``) that holds the fewest for its size, and there to the waiting user who
/// holds the fewest; ties take turns. One user holds at most ``maximumPerUser`` slots, and at most one after a read
/// of theirs that took long: each long read keeps one database processor busy, which other users need too. While
/// users of several places are connected, each place holds at most ``maximumPerPlace``, because the accounts of one
/// address could otherwise hold all slots for long. A holder whose device takes next to nothing for ``patience``
/// loses its slot if another read could use it.
struct ReadSlotTable {
    typealias Instant = ContinuousClock.Instant

    /// How long a device may take next to nothing while other reads wait.
    static let patience = Duration.seconds(2)
    /// The bytes that a device has to take within ``patience``. The slowest mobile network carries more, and a device
    /// that only pretends to read would have to take this much.
    static let minimumProgressByteCount = 4 << 10
    /// The duration from which a read counts as long.
    static let longReadDuration = Duration.milliseconds(250)

    private struct Holder {
        let peer: Peer
        let beganAt: Instant
        /// When the device began to take next to nothing, and how much it had taken by then.
        var since: Instant
        var takenByteCount = 0
        var isRevoked = false
    }

    let count: Int
    /// Half of the slots, so that one user's devices leave room for others.
    let maximumPerUser: Int
    /// Three quarters of the slots.
    let maximumPerPlace: Int
    /// Whether users of several places are connected.
    var placesAreSeveral = false
    private var holders: [Int: Holder] = [:]
    private var waiting = WaitingReads()
    /// Users whose last read took long and who have other reads.
    private var slowUsers: Set<String> = []

    init(count: Int) {
        self.count = count
        maximumPerUser = max(1, count / 2)
        maximumPerPlace = count - count / 4
    }

    var hasWaiting: Bool { !waiting.isEmpty }
    var waitingCount: Int { waiting.count }
    var usedCount: Int { holders.count }

    /// Requests a slot for a read. Returns the reads that get a slot now, possibly including this one.
    mutating func request(_ id: Int, _ peer: Peer, at now: Instant) -> [Int] {
        waiting.add(id, peer)
        return grant(at: now)
    }

    /// Call when a read has ended or no longer waits. Returns the reads that get a slot now.
    mutating func leave(_ id: Int, at now: Instant) -> [Int] {
        let holder = holders.removeValue(forKey: id)
        if let peer = holder?.peer ?? waiting.remove(id) { note(holder, leftBy: peer.user, at: now) }
        return grant(at: now)
    }

    /// - Parameter holder: the slot, or nil if the read had none yet.
    private mutating func note(_ holder: Holder?, leftBy user: String, at now: Instant) {
        guard waiting.hasReads(of: user) || holders.values.contains(where: { $0.peer.user == user }) else {
            slowUsers.remove(user)
            return
        }
        guard let holder else { return }
        if holder.beganAt.duration(to: now) > Self.longReadDuration {
            slowUsers.insert(user)
        } else {
            slowUsers.remove(user)
        }
    }

    private func maximum(of user: String) -> Int { slowUsers.contains(user) ? 1 : maximumPerUser }

    /// Records a holder's progress.
    mutating func note(_ progress: ReadProgress, of id: Int, at now: Instant) {
        guard let holder = holders[id] else { return }
        let isEnough = progress.takenByteCount >= holder.takenByteCount + Self.minimumProgressByteCount
        guard !progress.isWaitingForDevice || isEnough else { return }
        holders[id]?.since = now
        holders[id]?.takenByteCount = progress.takenByteCount
    }

    /// The holders that must give up their slots now, the one that has stalled longest first, and no more than there
    /// are waiting reads that could use the slots. Each holder is returned only once, and keeps its slot until it
    /// leaves.
    mutating func revocations(at now: Instant) -> [Int] {
        var free = count - holders.count
        var held = WaitingReads.Held()
        for holder in holders.values {
            if holder.isRevoked { free += 1 } else { held.add(holder.peer) }
        }
        var left = waiting
        // First give waiting reads the slots that are becoming free anyway.
        while free > 0, let read = take(&left, held) {
            held.add(read.peer)
            free -= 1
        }
        var revoked: [Int] = []
        let stalled = holders.filter { !$0.value.isRevoked && $0.value.since.duration(to: now) >= Self.patience }
        for (id, holder) in stalled.sorted(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }) {
            var without = held
            without.add(holder.peer, -1)
            guard let read = take(&left, without) else { continue }
            without.add(read.peer)
            held = without
            holders[id]?.isRevoked = true
            revoked.append(id)
        }
        return revoked
    }

    private func take(_ waiting: inout WaitingReads, _ held: WaitingReads.Held) -> (id: Int, peer: Peer)? {
        waiting.take(held, maximum: maximum, placeMaximum: placesAreSeveral ? maximumPerPlace : count)
    }

    private mutating func grant(at now: Instant) -> [Int] {
        var granted: [Int] = []
        var held = WaitingReads.Held()
        for holder in holders.values { held.add(holder.peer) }
        while holders.count < count {
            guard let read = take(&waiting, held) else { break }
            held.add(read.peer)
            holders[read.id] = Holder(peer: read.peer, beganAt: now, since: now)
            granted.append(read.id)
        }
        return granted
    }
}
