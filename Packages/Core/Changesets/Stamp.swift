/// A reading of a hybrid logical clock: microseconds since 1970 on the server's clock, as far as the device knows it.
/// The logical part is how far the reading is ahead of the wall clock.
public struct Stamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static func < (left: Stamp, right: Stamp) -> Bool { left.microseconds < right.microseconds }

    public var description: String { "\(microseconds)µs" }

    /// The stamp, moved into the range that the server can vouch for: not before the changeset's base tick and not
    /// after the server received it.
    public func clamped(from earliest: Stamp, to latest: Stamp) -> Stamp {
        Swift.min(Swift.max(self, earliest), Swift.max(latest, earliest))
    }
}
