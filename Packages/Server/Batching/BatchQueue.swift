/// Tracks which requests wait, and which are answered together. It is pure: it calls nobody, and knows nothing about
/// the requests.
///
/// Unlike its users it isn't generic, so that the compiler makes one fast copy. Requests are objects of a subclass of
/// ``Member`` that only the user knows.
struct BatchQueue: Sendable {
    /// A request that waits or is being answered.
    /// - Note: `Sendable` is unchecked because there are subclasses. They, too, have only constants.
    class Member: @unchecked Sendable {
        let number: UInt64

        init(number: UInt64) { self.number = number }
    }

    /// Requests that are answered together. The batch's task collects them when it gets to run, so that a burst
    /// becomes one batch.
    private struct Batch: Sendable {
        /// Nil for a request that was given up. Empty before the batch begins.
        var members: [Member?] = []
        var task: Task<Void, Never>?

        var isAbandoned: Bool { !members.isEmpty && members.allSatisfy { $0 == nil } }
    }

    let bounds: BatchBounds
    private var queue: FairQueue<Member>
    private var batches: [UInt64: Batch] = [:]
    private var lastNumber: UInt64 = 0

    init(_ bounds: BatchBounds) {
        self.bounds = bounds
        queue = FairQueue(maximumCount: bounds.waiting)
    }

    /// The number of waiting requests.
    var waitingCount: Int { queue.count }

    /// For a request or a batch.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func append(_ member: Member, to lane: String) -> FairQueue<Member>.Admission {
        queue.append(member, number: member.number, to: lane)
    }

    /// The number of another batch, if one may begin and there are waiting requests that no prepared batch is going
    /// to take.
    mutating func prepare() -> UInt64? {
        guard batches.count < bounds.concurrency else { return nil }
        let placeCount = batches.values.count { $0.members.isEmpty } * bounds.size
        guard queue.count > placeCount else { return nil }
        let number = makeNumber()
        batches[number] = Batch()
        return number
    }

    /// Begins a prepared batch.
    /// - Returns: nothing if all its requests were given up. The batch is over then.
    mutating func begin(_ number: UInt64) -> [Member] {
        var members: [Member] = []
        while members.count < bounds.size, let member = queue.next() { members.append(member) }
        if members.isEmpty { batches[number] = nil } else { batches[number]?.members = members }
        return members
    }

    /// - Returns: false if all requests of the batch were given up already.
    mutating func note(_ task: Task<Void, Never>, of number: UInt64) -> Bool {
        batches[number]?.task = task
        return batches[number]?.isAbandoned != true
    }

    /// Ends a batch.
    /// - Returns: the members that its answers are for, in the order in which it began. Nil for those that were given
    ///   up.
    mutating func end(_ number: UInt64) -> [Member?] { batches.removeValue(forKey: number)?.members ?? [] }

    /// Gives up a request whose answer nobody wants any more.
    /// - Returns: the request, unless it was already answered, and the batch's task if all of its work is now in
    ///   vain.
    mutating func remove(_ number: UInt64, from lane: String) -> (Member, inVain: Task<Void, Never>?)? {
        if let member = queue.remove(number, from: lane) { return (member, nil) }
        for (batch, content) in batches {
            guard let place = content.members.firstIndex(where: { $0?.number == number }),
                let member = content.members[place]
            else { continue }
            batches[batch]?.members[place] = nil
            return (member, batches[batch]?.isAbandoned == true ? content.task : nil)
        }
        return nil
    }
}
