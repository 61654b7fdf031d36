/// What wasn't accepted as it was received, in sentences for the user.
struct Notes: Equatable, Sendable {
    /// Beyond this many, only their number is kept.
    static let maximumCount = 50

    private(set) var sentences: [String] = []
    private(set) var leftOutCount = 0

    mutating func add(_ sentence: String) {
        if sentences.count < Self.maximumCount { sentences.append(sentence) } else { leftOutCount += 1 }
    }
}
