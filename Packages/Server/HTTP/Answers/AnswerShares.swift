/// Who keeps how many bytes of answers in memory that their clients haven't taken, and which answers are given up when they
/// become too many.
struct AnswerShares<ID: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long a client may take nothing before its answer is given up in place of others'.
    static var patience: Duration { .seconds(5) }

    private struct Answer {
        let address: String
        let byteCount: Int
        /// When its client last took something.
        var since: Instant
    }

    /// For all answers of one address, in bytes.
    let limitPerAddress: Int
    /// For all answers of a server, in bytes.
    let limit: Int
    private var answers: [ID: Answer] = [:]
    private var byteCounts: [String: Int] = [:]
    /// Of all answers.
    private(set) var byteCount = 0
    /// The most that there was.
    private(set) var maximumByteCount = 0

    init(limitPerAddress: Int, limit: Int) {
        self.limitPerAddress = limitPerAddress
        self.limit = limit
    }

    func byteCount(of address: String) -> Int { byteCounts[address, default: 0] }

    /// Takes an answer in, and gives up others until it fits: of its address, the one whose client took nothing for longest;
    /// then of the address that has most, as ``slowest(at:)`` says. An answer that doesn't fit even alone is taken all the same.
    /// - Parameter address: empty for one that isn't known, which has no limit of its own.
    /// - Returns: what is given up, which isn't counted any more.
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

    /// The client of an answer has taken some of it.
    mutating func note(_ id: ID, at now: Instant) { answers[id]?.since = now }

    /// An answer has gone; nothing for one that was given up before.
    mutating func remove(_ id: ID) {
        guard let answer = answers.removeValue(forKey: id) else { return }
        byteCount -= answer.byteCount
        let rest = byteCount(of: answer.address) - answer.byteCount
        byteCounts[answer.address] = rest > 0 ? rest : nil
    }

    private func slowest(of address: String) -> ID? {
        answers.filter { $0.value.address == address }.min { $0.value.since < $1.value.since }?.key
    }

    /// Of all answers whose clients took nothing for ``patience``, or of all if there are none, the slowest of the address
    /// that has most. Who has many addresses can't have those given up that are being read.
    private func slowest(at now: Instant) -> ID? {
        let stalled = answers.values.filter { $0.since + Self.patience <= now }
        let addresses = Set((stalled.isEmpty ? Array(answers.values) : stalled).map(\.address))
        return addresses.max { byteCount(of: $0) < byteCount(of: $1) }.flatMap { slowest(of: $0) }
    }
}
