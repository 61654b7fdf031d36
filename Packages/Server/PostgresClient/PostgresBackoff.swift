/// How long to wait before the next attempt to connect. The wait doubles from `first` to `last`, and each time a random
/// fraction of it (between half and all) is used, so that many clients don't reconnect in step.
public struct PostgresBackoff: Sendable {
    public static let defaultFirst = Duration.milliseconds(50)
    public static let defaultLast = Duration.seconds(5)

    /// The longest wait before the second attempt.
    public var first: Duration
    /// The longest wait before any attempt.
    public var last: Duration

    public init(first: Duration = Self.defaultFirst, last: Duration = Self.defaultLast) {
        self.first = first
        self.last = last
    }

    /// - Parameter attempt: the number of failed attempts so far, minus one.
    func delay(attempt: Int, random: Double = .random(in: 0.5...1)) -> Duration {
        var delay = first
        for _ in 0..<min(attempt, 32) where delay < last { delay *= 2 }
        return min(delay, last) * random
    }
}
