import Foundation
import TomboloHTTP
import TomboloLocalization

/// A moment as pages show it: in UTC, and relative to now.
struct Moment: Sendable {
    /// The moment in RFC 3339.
    let machine: String
    /// `2026-11-23 17:30 UTC`.
    let exact: String
    let day: String
    /// `3 days ago`, `in 2 hours`.
    let relative: String
    /// Whether it's at most a day in the future.
    let isSoon: Bool

    /// - Parameters: both in microseconds since 1970. A time may be PostgreSQL's infinity (`Int64.max`) or -infinity
    ///   (`Int64.min`).
    init(_ time: Int64, now: Int64) {
        machine = JSON.timestamp(time)
        day = String(machine.prefix(10))
        exact = "\(day) \(machine.dropFirst(11).prefix(5)) UTC"
        let (distance, isBeyond) = time.subtractingReportingOverflow(now)
        relative = Self.relative(seconds: (isBeyond ? time : distance) / 1_000_000)
        isSoon = time > now && !isBeyond && distance < 86_400_000_000
    }

    init(_ date: Date, now: Int64) {
        self.init(Int64((date.timeIntervalSince1970 * 1_000_000).rounded()), now: now)
    }

    /// The moment of an optional time.
    static func of(_ time: Int64?, now: Int64) -> Moment? { time.map { Moment($0, now: now) } }

    static func relative(seconds: Int64) -> String {
        let distance = Int(clamping: seconds.magnitude)
        for (name, length) in units where distance >= length {
            return name(distance / length, seconds < 0)
        }
        return localized("just now")
    }

    /// Each unit: its wording for a count, in the past or the future, and its length in seconds.
    private static let units: [(words: @Sendable (_ count: Int, _ isAgo: Bool) -> String, seconds: Int)] = [
        (
            { count, isAgo in
                isAgo
                    ? localized(count, one: "\(count) year ago", other: "\(count) years ago")
                    : localized(count, one: "in \(count) year", other: "in \(count) years")
            }, 31_557_600
        ),
        (
            { count, isAgo in
                isAgo
                    ? localized(count, one: "\(count) month ago", other: "\(count) months ago")
                    : localized(count, one: "in \(count) month", other: "in \(count) months")
            }, 2_629_800
        ),
        (
            { count, isAgo in
                isAgo
                    ? localized(count, one: "\(count) day ago", other: "\(count) days ago")
                    : localized(count, one: "in \(count) day", other: "in \(count) days")
            }, 86_400
        ),
        (
            { count, isAgo in
                isAgo
                    ? localized(count, one: "\(count) hour ago", other: "\(count) hours ago")
                    : localized(count, one: "in \(count) hour", other: "in \(count) hours")
            }, 3_600
        ),
        (
            { count, isAgo in
                isAgo
                    ? localized(count, one: "\(count) minute ago", other: "\(count) minutes ago")
                    : localized(count, one: "in \(count) minute", other: "in \(count) minutes")
            }, 60
        ),
    ]
}
