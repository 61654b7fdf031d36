import Foundation
import TomboloHTTP
import TomboloModel

/// Dates and times as local clocks at the event show them.
struct EventClock {
    /// The IANA name of the zone in use.
    let name: String
    private let zone: TimeZone

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let microsecondsOfDay: Int64 = 86_400_000_000

    /// - Parameter zone: an IANA name; an unknown one counts as UTC.
    init(zone: String) {
        let known = TimeZone(identifier: zone)
        name = known == nil ? "UTC" : zone
        self.zone = known ?? .gmt
    }

    /// The local time, in microseconds.
    private func shown(_ time: Date) -> Int64 {
        time.microsecondsSince1970 + Int64(zone.secondsFromGMT(for: time)) * 1_000_000
    }

    /// `Thursday, 2026-05-14`, in the calendar that all other pages and the API use. Foundation's is Julian before
    /// October 15, 1582.
    func day(_ time: Date) -> String {
        let shown = shown(time)
        // January 1, 1970, was a Thursday.
        let days = (shown >= 0 ? shown : shown - Self.microsecondsOfDay + 1) / Self.microsecondsOfDay
        let weekday = Self.weekdays[Int(((days + 4) % 7 + 7) % 7)]
        return "\(weekday), \(JSON.timestamp(shown).prefix { $0 != "T" })"
    }

    /// `09:30`
    func time(_ time: Date) -> String { String(JSON.timestamp(shown(time)).drop { $0 != "T" }.dropFirst().prefix(5)) }
}
