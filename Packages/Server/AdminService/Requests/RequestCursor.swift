/// A position in the log of requests, written as `1778749200000000.17` in addresses.
package struct RequestCursor: Hashable, Comparable, Sendable {
    /// Microseconds since 1970.
    let at: Int64
    let id: Int64

    init(at: Int64, id: Int64) {
        self.at = at
        self.id = id
    }

    /// The years 1970 to 9999, which PostgreSQL supports too.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799_999_999

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let at = Int64(parts[0]), let id = Int64(parts[1]), Self.times.contains(at), id >= 0
        else { return nil }
        self.init(at: at, id: id)
    }

    package var text: String { "\(at).\(id)" }

    package static func < (one: Self, other: Self) -> Bool { (one.at, one.id) < (other.at, other.id) }
}
