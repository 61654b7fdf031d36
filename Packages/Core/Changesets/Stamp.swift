/// A hybrid-logical-clock reading: microseconds since 1970 on the server's clock, as well as the device knows it.
/// The logical part is whatever lies ahead of the wall clock.
public struct Stamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static func < (left: Stamp, right: Stamp) -> Bool { left.microseconds < right.microseconds }

    public var description: String { "\(microseconds)µs" }

    /// Within the bounds that the server can vouch for: not before the tick that the changeset was based on, not
    /// after the moment it was received.
    public func clamped(from earliest: Stamp, to latest: Stamp) -> Stamp {
        Swift.min(Swift.max(self, earliest), Swift.max(latest, earliest))
    }
}
