/// Counts the bytes of answers that clients haven't read yet, by address, and picks the answers to give up when they
/// become too many.
struct AnswerShares<ID: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long a client may read nothing before its answer is given up in favour of others.
    static var patience: Duration { .seconds(5) }

    private struct Answer {
        let address: String
        let byteCount: Int
        /// When the client last read something.
        var since: Instant
    }

    /// The limit for all answers to one address, in bytes.
    let limitPerAddress: Int
    /// The limit for all answers of a server, in bytes.
    let limit: Int
    private var answers: [ID: Answer] = [:]
    private var byteCounts: [String: Int] = [:]
    /// The bytes of all answers.
    private(set) var byteCount = 0
    /// The peak of ``byteCount`` so far.
    private(set) var maximumByteCount = 0

    init(limitPerAddress: Int, limit: Int) {
        self.limitPerAddress = limitPerAddress
        self.limit = limit
    }

    func byteCount(of address: String) -> Int { byteCounts[address, default: 0] }

    /// Adds an answer, and gives up others until it fits: first answers to the same address, starting with the one
    /// whose client has read nothing for longest, then answers to the address with the most bytes, as ``slowest(at:)``
    /// says. An answer that is too large even by itself is added all the same.
    /// - Parameter address: empty for an unknown address, which has no limit of its own.
    /// - Returns: the answers to give up. They no longer count.
    mutating func add(_ id: ID, _ byteCount: Int, of address: String, at now: Instant) -> [ID] {
        var givenUp: [ID] = []
        while !address.isEmpty, self.byteCount(of: address) + byteCount > limitPerAddress,
            let victim = slowest(of: address)
        {
            remove(victim)
            givenUp.append(victim)
        }
        while self.byteCount + byteCount > limit, let victim = slowest(at: now) {
            remove(victim)
            givenUp.append(victim)
        }
        answers[id] = Answer(address: address, byteCount: byteCount, since: now)
        byteCounts[address, default: 0] += byteCount
        self.byteCount += byteCount
        maximumByteCount = max(maximumByteCount, self.byteCount)
        return givenUp
    }

    /// Notes that the client has read some of an answer.
    mutating func note(_ id: ID, at now: Instant) { answers[id]?.since = now }

    /// Removes an answer that is done. Does nothing if it was given up before.
    mutating func remove(_ id: ID) {
        guard let answer = answers.removeValue(forKey: id) else { return }
        byteCount -= answer.byteCount
        let rest = byteCount(of: answer.address) - answer.byteCount
        byteCounts[answer.address] = rest > 0 ? rest : nil
    }

    private func slowest(of address: String) -> ID? {
        answers.filter { $0.value.address == address }.min { $0.value.since < $1.value.since }?.key
    }

    /// The slowest answer to the address with the most bytes. Only addresses with a client that has read nothing for
    /// ``patience`` count, or all addresses if there is no such client. So a client with many addresses can't push out
    /// answers that are being read.
    private func slowest(at now: Instant) -> ID? {
        let stalled = answers.values.filter { $0.since + Self.patience <= now }
        let addresses = Set((stalled.isEmpty ? Array(answers.values) : stalled).map(\.address))
        return addresses.max { byteCount(of: $0) < byteCount(of: $1) }.flatMap { slowest(of: $0) }
    }
}
