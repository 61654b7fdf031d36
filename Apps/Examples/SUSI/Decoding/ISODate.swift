import Foundation

/// ISO 8601 dates as servers write them.
enum ISODate {
    /// Reads `2026-05-14`, `2026-05-14T13:22`, `2026-05-14 13:22:18`, `20260514T132218.473Z`,
    /// `2026-05-14T15:22:18,473+02:00` and combinations of these forms. Without a time zone, it's UTC.
    /// - Returns: nil for everything else, such as the 30th of February.
    static func date(_ text: String) -> Date? {
        var scanner = Scanner(text)
        guard let year = scanner.digits(4), year > 0 else { return nil }
        let dashed = scanner.skip("-")
        guard let month = scanner.digits(2), dashed == scanner.skip("-"), let day = scanner.digits(2),
            (1...12).contains(month), (1...dayCount(year, month)).contains(day)
        else { return nil }
        var seconds = Double(dayNumber(year, month, day)) * 86_400
        if !scanner.isAtEnd {
            guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let time = scanner.time(),
                let offset = scanner.offset(), scanner.isAtEnd
            else { return nil }
            seconds += time - offset
        }
        return Date(timeIntervalSince1970: seconds)
    }

    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day comes last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct Scanner {
        private var rest: Substring.UTF8View

        init(_ text: String) {
            rest = text.prefix(ISODate.maximumLength + 1).trimmingCharacters(in: .whitespacesAndNewlines)[...].utf8
            if rest.count > ISODate.maximumLength { rest = ""[...].utf8 }
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func digits(_ count: Int) -> Int? {
            let taken = rest.prefix(count)
            guard taken.count == count, taken.allSatisfy(Self.isDigit) else { return nil }
            rest.removeFirst(count)
            return taken.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }

        /// Seconds since midnight. A leap second counts as the following second; 24:00 is the end of the day.
        mutating func time() -> Double? {
            guard let hour = digits(2) else { return nil }
            let hasColons = skip(":")
            guard let minute = digits(2), hour <= 24, minute < 60 else { return nil }
            var second = 0.0
            if hasColons ? skip(":") : rest.first.map(Self.isDigit) == true {
                guard let whole = digits(2), whole <= 60 else { return nil }
                second = Double(whole)
                if skip(".") || skip(",") {
                    let fraction = rest.prefix(while: Self.isDigit)
                    guard let number = Double("0.\(Substring(fraction))"), !fraction.isEmpty else { return nil }
                    rest.removeFirst(fraction.count)
                    second += number
                }
            }
            guard hour < 24 || (minute == 0 && second == 0) else { return nil }
            return Double(hour * 3_600 + minute * 60) + second
        }

        /// Seconds east of Greenwich.
        mutating func offset() -> Double? {
            if isAtEnd || skip("Z") || skip("z") { return 0 }
            let sign: Double
            if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
            guard let hour = digits(2), hour < 24 else { return nil }
            if isAtEnd { return sign * Double(hour * 3_600) }
            _ = skip(":")
            guard let minute = digits(2), minute < 60 else { return nil }
            return sign * Double(hour * 3_600 + minute * 60)
        }
    }

    /// Longer texts aren't dates.
    private static let maximumLength = 64
}
