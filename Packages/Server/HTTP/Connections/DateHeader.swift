import Foundation
import Synchronization

/// The header `Date` of responses. Its text is made once a second.
final class DateHeader: Sendable {
    private let last = Mutex((second: 0, text: ""))

    /// The time in the format of RFC 9110, section 5.6.7.
    var current: String { text(at: Int(time(nil))) }

    /// - Parameter second: seconds since 1970.
    func text(at second: Int) -> String {
        last.withLock { last in
            if last.second != second || last.text.isEmpty {
                let date = Date(timeIntervalSince1970: TimeInterval(second))
                last = (second, date.formatted(Self.format))
            }
            return last.text
        }
    }

    private static let format = Date.VerbatimFormatStyle(
        format:
            "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
