import Foundation
import TomboloHTTP

/// A moment as pages show it: in UTC, and by how far away it is.
struct Moment: Sendable {
    /// RFC 3339.
    let machine: String
    /// `2026-11-23 17:30 UTC`.
    let exact: String
    let day: String
    /// `3 days ago`, `in 2 hours`.
    let relative: String
    /// Within a day from now.
    let isSoon: Bool

    /// - Parameters: microseconds since 1970.
    init(_ time: Int64, now: Int64) {
        machine = JSON.timestamp(time)
        day = String(machine.prefix(10))
        exact = "\(day) \(machine.dropFirst(11).prefix(5)) UTC"
        relative = Self.relative(seconds: (time - now) / 1_000_000)
        isSoon = time > now && time - now < 86_400_000_000
    }

    init(_ date: Date, now: Int64) {
        self.init(Int64((date.timeIntervalSince1970 * 1_000_000).rounded()), now: now)
    }

    /// Of an optional moment.
    static func of(_ time: Int64?, now: Int64) -> Moment? { time.map { Moment($0, now: now) } }

    private static let units: [(name: String, seconds: Int64)] = [
        ("year", 31_557_600), ("month", 2_629_800), ("day", 86_400), ("hour", 3_600), ("minute", 60),
    ]

    static func relative(seconds: Int64) -> String {
        let distance = abs(seconds)
        guard let unit = units.first(where: { distance >= $0.seconds }) else { return "just now" }
        let count = distance / unit.seconds
        let words = "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        return seconds < 0 ? "\(words) ago" : "in \(words)"
    }
}
