/// A durable, numbered point in the changelog. Made by the sequencer, committed before anyone may send it.
public struct Tick: Hashable, Sendable {
    public let number: Int64
    /// Random: tells this history from one restored from a backup.
    public let token: Int64
    public let snapshot: Snapshot
    /// The server's clock when the tick was made.
    public let time: Stamp

    public init(number: Int64, token: Int64, snapshot: Snapshot, time: Stamp) {
        self.number = number
        self.token = token
        self.snapshot = snapshot
        self.time = time
    }

    /// Before everything: what a new client stands on.
    public static let origin = Tick(number: 0, token: 0, snapshot: .empty, time: Stamp(microseconds: 0))
}
