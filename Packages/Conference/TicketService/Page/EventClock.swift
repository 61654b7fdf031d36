import Foundation

/// Days and times as the clocks at the event show them.
struct EventClock {
    /// The IANA name of the zone that is used.
    let name: String
    private let calendar: Calendar

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// - Parameter zone: an IANA name; an unknown one counts as UTC.
    init(zone: String) {
        let known = TimeZone(identifier: zone)
        name = known == nil ? "UTC" : zone
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = known ?? .gmt
        self.calendar = calendar
    }

    /// `Thursday, 2026-05-14`
    func day(_ time: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: time)
        let weekday = Self.weekdays[max(0, min(6, (parts.weekday ?? 1) - 1))]
        return "\(weekday), \(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
    }

    /// `09:30`
    func time(_ time: Date) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: time)
        return "\(padded(parts.hour, 2)):\(padded(parts.minute, 2))"
    }

    private func padded(_ number: Int?, _ width: Int) -> String {
        let digits = String(number ?? 0)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
