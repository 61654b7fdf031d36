import Foundation
import TomboloModel

/// Dates as exports write them: `2017-05-08T13:00:00-05:00`, with `Z`, with a fraction of a second, with a space
/// instead of the T, or without seconds. Without an offset, they're local times of the event's zone.
enum OpenEventTime {
    /// - Returns: microseconds since 1970, or nil if the text isn't an existing date.
    static func microseconds(_ text: String, zone: TimeZone) -> Int64? {
        var scanner = Scanner(text: Array(text.utf8))
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), (1...9999).contains(year), (1...12).contains(month),
            (1...Self.dayCount(month, year)).contains(day)
        else { return nil }
        var seconds = Self.daysSince1970(year, month, day) * 86_400
        var micros = 0
        if !scanner.isAtEnd {
            guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.digits(2),
                scanner.skip(":"), let minute = scanner.digits(2), hour < 24, minute < 60
            else { return nil }
            seconds += hour * 3_600 + minute * 60
            if scanner.skip(":") {
                guard let second = scanner.digits(2), second < 60 else { return nil }
                seconds += second
                if scanner.skip(".") {
                    guard let fraction = scanner.fraction() else { return nil }
                    micros = fraction
                }
            }
        }
        if scanner.skip("Z") || scanner.skip("z") {
        } else if let sign = scanner.sign() {
            guard let hour = scanner.digits(2), hour <= 18 else { return nil }
            _ = scanner.skip(":")
            let minute = scanner.isAtEnd ? 0 : scanner.digits(2) ?? 60
            guard minute < 60 else { return nil }
            seconds -= sign * (hour * 3_600 + minute * 60)
        } else {
            seconds -= Self.offset(ofLocal: seconds, in: zone)
        }
        guard scanner.isAtEnd else { return nil }
        let result = Int64(seconds) * 1_000_000 + Int64(micros)
        return Value.dateRange.contains(result) ? result : nil
    }

    /// The zone's offset at a local time. For a time that occurs twice, the earlier one's offset; for a time that is
    /// skipped, the offset from before the change.
    private static func offset(ofLocal seconds: Int, in zone: TimeZone) -> Int {
        func offset(at seconds: Int) -> Int {
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds)))
        }
        let before = offset(at: seconds - 86_400)
        let after = offset(at: seconds + 86_400)
        let fitting = [before, after].filter { offset(at: seconds - $0) == $0 }
        return fitting.max() ?? before
    }

    private static func dayCount(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// For the Gregorian calendar, counting years from March.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    private struct Scanner {
        let text: [UInt8]
        var position = 0

        init(text: [UInt8]) { self.text = text }

        var isAtEnd: Bool { position == text.count }

        mutating func skip(_ character: Character) -> Bool {
            guard position < text.count, text[position] == character.asciiValue else { return false }
            position += 1
            return true
        }

        mutating func sign() -> Int? { skip("+") ? 1 : skip("-") ? -1 : nil }

        private mutating func digit() -> Int? {
            guard position < text.count, (48...57).contains(text[position]) else { return nil }
            position += 1
            return Int(text[position - 1]) - 48
        }

        mutating func digits(_ count: Int) -> Int? {
            var value = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// Microseconds; further digits are cut off.
        mutating func fraction() -> Int? {
            guard var value = digit() else { return nil }
            var count = 1
            while let digit = digit() {
                if count < 6 {
                    value = value * 10 + digit
                    count += 1
                }
            }
            for _ in count..<6 { value *= 10 }
            return value
        }
    }
}
