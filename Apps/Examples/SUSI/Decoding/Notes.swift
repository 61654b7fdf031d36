/// What was not taken as it came, in sentences for the user.
struct Notes: Equatable, Sendable {
    /// Of more there is only the number.
    static let maximumCount = 50

    private(set) var sentences: [String] = []
    private(set) var leftOutCount = 0

    mutating func add(_ sentence: String) {
        if sentences.count < Self.maximumCount { sentences.append(sentence) } else { leftOutCount += 1 }
    }
}
