/// A durable, numbered point in the changelog. The sequencer makes it and commits it before anyone may send it.
public struct Tick: Hashable, Sendable {
    /// Counts up from 1; 0 is ``origin``.
    public let number: Int64
    /// A random number that distinguishes this history from one restored from a backup.
    public let token: Int64
    /// The transactions that the tick contains.
    public let snapshot: Snapshot
    /// The server's clock when the tick was made.
    public let time: Stamp

    public init(number: Int64, token: Int64, snapshot: Snapshot, time: Stamp) {
        self.number = number
        self.token = token
        self.snapshot = snapshot
        self.time = time
    }

    /// The position before all ticks, at which a new client starts.
    public static let origin = Tick(number: 0, token: 0, snapshot: .empty, time: Stamp(microseconds: 0))
}
