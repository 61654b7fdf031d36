/// Parses points in time: RFC 3339, or a date alone, which means its first moment in UTC.
package enum Timestamp {
    /// Microseconds since 1970.
    /// - Returns: nil if the text isn't a point in time in the years 1 to 9999.
    package static func microseconds(_ text: String) -> Int64? {
        var scanner = Scanner(bytes: Array(text.utf8))
        guard let year = scanner.number(4), year > 0, scanner.skip("-"), let month = scanner.number(2),
            (1...12).contains(month), scanner.skip("-"), let day = scanner.number(2), day >= 1,
            day <= days(in: month, of: year)
        else { return nil }
        var result = daysSince1970(year, month, day) * 86_400_000_000
        if !scanner.isAtEnd {
            guard let time = scanner.time(), let zone = scanner.zone(), scanner.isAtEnd else { return nil }
            result += time - zone
        }
        return Value.dateRange.contains(result) ? result : nil
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Years begin in March, so that a leap day is the last day of its year. 400 years have 146,097 days.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ characters: StaticString) -> Bool {
            guard position < bytes.count,
                characters.withUTF8Buffer({ $0.contains(bytes[position]) })
            else { return false }
            position += 1
            return true
        }

        mutating func number(_ width: Int) -> Int64? {
            guard position + width <= bytes.count else { return nil }
            var result: Int64 = 0
            for byte in bytes[position..<(position + width)] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                result = result * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            position += width
            return result
        }

        /// Microseconds since midnight. Fraction digits after the sixth are cut.
        mutating func time() -> Int64? {
            guard skip("Tt "), let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60,
                skip(":"), let seconds = number(2), seconds < 60
            else { return nil }
            var result = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
            if skip(".") {
                var unit: Int64 = 100_000
                guard let first = number(1) else { return nil }
                result += first * unit
                while let digit = number(1) {
                    unit /= 10
                    result += digit * unit
                }
            }
            return result
        }

        /// Microseconds ahead of UTC.
        mutating func zone() -> Int64? {
            if skip("Zz") { return 0 }
            let sign: Int64 = skip("-") ? -1 : 1
            guard sign < 0 || skip("+"), let hours = number(2), hours < 24, skip(":"), let minutes = number(2),
                minutes < 60
            else { return nil }
            return sign * (hours * 60 + minutes) * 60_000_000
        }
    }
}
