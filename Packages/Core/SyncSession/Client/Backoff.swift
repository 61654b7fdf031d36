/// How long to wait before connecting again: doubles from one second to a minute, with jitter so that devices that
/// lost the same gateway do not return together.
public struct Backoff: Hashable, Sendable {
    public static let first = Duration.milliseconds(500)
    public static let longest = Duration.seconds(60)

    private var attempts = 0

    public init() {}

    /// - Parameter random: 0 ..< 1.
    public mutating func next(random: Double) -> Duration {
        let doubled = Self.first * Double(1 << min(attempts, 16))
        attempts += 1
        return min(doubled, Self.longest) * (0.5 + random / 2)
    }

    public mutating func reset() { attempts = 0 }
}
