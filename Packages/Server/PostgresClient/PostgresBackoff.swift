/// How long to wait before the next attempt to connect: doubling from `first` to `last`, each time a random part of
/// it (between half and all), so that many clients do not come back in step.
public struct PostgresBackoff: Sendable {
    public static let defaultFirst = Duration.milliseconds(50)
    public static let defaultLast = Duration.seconds(5)

    public var first: Duration
    public var last: Duration

    public init(first: Duration = Self.defaultFirst, last: Duration = Self.defaultLast) {
        self.first = first
        self.last = last
    }

    /// - Parameter attempt: how many attempts failed before, from 0.
    func delay(attempt: Int, random: Double = .random(in: 0.5...1)) -> Duration {
        var delay = first
        for _ in 0..<min(attempt, 32) where delay < last { delay *= 2 }
        return min(delay, last) * random
    }
}
