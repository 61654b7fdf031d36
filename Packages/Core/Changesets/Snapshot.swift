/// Which transactions a reader sees: PostgreSQL's `pg_snapshot`, `xmin:xmax:xip,…`.
/// <https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-PG-SNAPSHOT>
public struct Snapshot: Hashable, Sendable, CustomStringConvertible {
    /// Every transaction below this ID has finished.
    public let xmin: UInt64
    /// No transaction with this ID or a higher one had finished.
    public let xmax: UInt64
    /// The transactions in between that were still running.
    public let running: Set<UInt64>

    public init(xmin: UInt64, xmax: UInt64, running: Set<UInt64>) {
        self.xmin = xmin
        self.xmax = xmax
        self.running = running
    }

    /// Sees nothing: the snapshot of a client that has no tick yet.
    public static let empty = Snapshot(xmin: 0, xmax: 0, running: [])

    /// Parses PostgreSQL's text form. Returns nil if `text` isn't in that form.
    public init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let xmin = UInt64(parts[0]), let xmax = UInt64(parts[1]), xmin <= xmax else {
            return nil
        }
        var running: Set<UInt64> = []
        for item in parts[2].split(separator: ",") {
            guard let xid = UInt64(item) else { return nil }
            running.insert(xid)
        }
        self.init(xmin: xmin, xmax: xmax, running: running)
    }

    /// Whether a committed transaction is visible.
    public func sees(_ xid: UInt64) -> Bool { xid < xmax && !running.contains(xid) }

    public var description: String { "\(xmin):\(xmax):\(running.sorted().map(String.init).joined(separator: ","))" }
}
