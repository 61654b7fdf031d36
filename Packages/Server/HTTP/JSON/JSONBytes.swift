/// JSON as bytes, written from front to back. The result is what ``JSONAnswer`` gives for the same content, without
/// building the content first. The caller takes care of commas and the order of members.
public struct JSONBytes: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// Whether infinite numbers, which JSON doesn't have, are written as the strings `"Infinity"` and `"-Infinity"`
    /// instead of null.
    package var namesInfinity = false

    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameter capacity: the expected number of bytes.
    public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Appends bytes that are already JSON.
    public mutating func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

    /// Appends bytes that are already JSON.
    public mutating func append(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    /// Appends punctuation and member names that are written in the source code.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    public mutating func append(null: Void) { append("null") }

    public mutating func append(_ value: Bool) { value ? append("true") : append("false") }

    public mutating func append(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDecimal(value.magnitude, width: 1)
    }

    /// Appends a number, or null if JSON can't represent it.
    public mutating func append(_ value: Double) {
        if namesInfinity, let name = value.infinityName { return append(string: name) }
        guard value.isFinite else { return append(null: ()) }
        let text = value.description
        bytes.append(contentsOf: (text.hasSuffix(".0") ? text.dropLast(2) : Substring(text)).utf8)
    }

    public mutating func append(string: String) {
        var string = string
        string.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string of valid UTF-8.
    public mutating func append(utf8: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        for (index, byte) in utf8.enumerated() {
            let isSpecial = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            guard isSpecial else { continue }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[start..<index]))
            appendEscaped(byte)
            start = index + 1
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case ..<0x20:
            append("u00")
            appendHexDigits(byte)
        default: bytes.append(byte)
        }
    }

    /// Appends a string of hexadecimal digits, two for each byte.
    public mutating func append(hex: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        for byte in hex { appendHexDigits(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendHexDigits(_ byte: UInt8) {
        bytes.append(Self.digits[Int(byte >> 4)])
        bytes.append(Self.digits[Int(byte & 15)])
    }

    /// Appends a date as a string: ISO 8601 in UTC with microseconds, `2026-05-14T13:22:18.473000Z`.
    /// - Parameter microseconds: since 1970, in a year of four digits.
    public mutating func append(timestamp microseconds: Int64) {
        bytes.append(UInt8(ascii: "\""))
        let (days, time) = microseconds.flooredDivision(by: 86_400_000_000)
        // Days are counted from 0000-03-01, so that a leap day ends its year: 400 years have 146,097 days (RFC 3339,
        // Appendix B).
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        if year < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDecimal(year.magnitude, width: 4)
        for (mark, number, width) in [
            ("-", month, 2), ("-", day, 2), ("T", time / 3_600_000_000, 2), (":", time / 60_000_000 % 60, 2),
            (":", time / 1_000_000 % 60, 2), (".", time % 1_000_000, 6),
        ] as [(Unicode.Scalar, Int64, Int)] {
            bytes.append(UInt8(ascii: mark))
            appendDecimal(number.magnitude, width: width)
        }
        append("Z\"")
    }

    /// Appends digits, padded with zeros to a width.
    private mutating func appendDecimal(_ value: UInt64, width: Int) {
        let start = bytes.count
        var rest = value
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0 || bytes.count - start < width
        bytes[start...].reverse()
    }
}

extension Int64 {
    /// Divides and rounds down, so that the remainder is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Double {
    /// The string that stands for an infinite number in exports and jobs, since JSON has no infinity; nil for any other
    /// number.
    package var infinityName: String? { isInfinite ? self < 0 ? "-Infinity" : "Infinity" : nil }
}
