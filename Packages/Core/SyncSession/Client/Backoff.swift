/// How long to wait before connecting again. The limit doubles from half a second to a minute. Each wait is a random time
/// between half the limit and the limit, so that devices that lost the same gateway don't return together.
public struct Backoff: Hashable, Sendable {
    public static let first = Duration.milliseconds(500)
    public static let longest = Duration.seconds(60)

    private var attempts = 0

    public init() {}

    /// - Parameter random: from 0 up to, but not including, 1.
    public mutating func next(random: Double) -> Duration {
        let doubled = Self.first * Double(1 << min(attempts, 16))
        attempts += 1
        return min(doubled, Self.longest) * (0.5 + random / 2)
    }

    public mutating func reset() { attempts = 0 }
}
