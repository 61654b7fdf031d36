extension Decimal128: LosslessStringConvertible {
    /// The maximum length of text to parse, in bytes. Every decimal can be written without an exponent in 6,180.
    package static let maximumTextByteCount = 8_192

    /// Parses a number: digits with at most one decimal point, an optional sign before them and an optional exponent
    /// after them (`12.50`, `-1E+3`, `.5e-7`), or `Inf`, `Infinity` or `NaN`, in upper or lower case. Digits beyond the
    /// 34th are rounded, ties to even; numbers out of range become infinite or 0.
    /// - Throws: ``ValueError``, which quotes the text and says where it stops being a number.
    public init(string: String) throws(ValueError) {
        var text = string
        let result = text.withUTF8 { Decimal128.parse($0) }
        switch result {
        case .success(let number): self = number
        case .failure(let problem):
            let quoted = string.shortened(toByteCount: Value.shownByteCount)
            throw ValueError(
                "'\(quoted)' is not a Decimal128: \(problem.reason). Write numbers like 12.50, -1E+3, Inf or NaN.")
        }
    }

    /// Parses text like ``init(string:)``; returns nil if it isn't a number.
    public init?(_ description: String) {
        var text = description
        guard case .success(let number) = text.withUTF8({ Decimal128.parse($0) }) else { return nil }
        self = number
    }

    /// Parses UTF-8 text like ``init(string:)``; returns nil if it isn't a number.
    package init?(utf8: UnsafeBufferPointer<UInt8>) {
        guard case .success(let number) = Self.parse(utf8) else { return nil }
        self = number
    }

    /// All digits as given: `1.00`, `-0`, `1E+3`, `Inf`, `-Inf` or `NaN`. The text has an exponent, and one digit
    /// before the point, if the last digit is above the ones place or the first is below the sixth decimal place.
    /// Parsing the text gives the same digits and exponent.
    public var description: String {
        guard isFinite else { return isNaN ? "NaN" : (isSignMinus ? "-Inf" : "Inf") }
        let digits = coefficient.decimalDigits
        let exponent = exponent
        let firstDigitPlace = exponent + digits.count - 1
        var text: [UInt8] = []
        text.reserveCapacity(digits.count + 8)
        if isSignMinus { text.append(UInt8(ascii: "-")) }
        if exponent > 0 || firstDigitPlace < Self.minimumPlainPlace {
            text.append(digits[0])
            if digits.count > 1 {
                text.append(UInt8(ascii: "."))
                text.append(contentsOf: digits.dropFirst())
            }
            text.append(contentsOf: (firstDigitPlace < 0 ? "E" : "E+").utf8)
            text.append(contentsOf: String(firstDigitPlace).utf8)
        } else if exponent == 0 {
            text.append(contentsOf: digits)
        } else {
            let wholeDigits = digits.count + exponent
            if wholeDigits > 0 {
                text.append(contentsOf: digits.prefix(wholeDigits))
                text.append(UInt8(ascii: "."))
                text.append(contentsOf: digits.dropFirst(wholeDigits))
            } else {
                text.append(contentsOf: "0.".utf8)
                text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -wholeDigits))
                text.append(contentsOf: digits)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Same as ``description``.
    public var stringValue: String { description }

    /// Smaller numbers are written with an exponent: `0.000001`, but `1E-7`.
    private static let minimumPlainPlace = -6

    private struct Problem: Error {
        let reason: String
    }

    /// The number of digits read. Of any further digits, only their count matters and whether one of them isn't 0.
    private static let maximumReadDigits = PowersOfTen.maximumExponent - 1
    /// The largest exponent read. No text of the permitted length could bring a larger one back into range.
    private static let maximumReadExponent = 100_000

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Result<Decimal128, Problem> {
        guard text.count <= maximumTextByteCount else {
            return .failure(
                Problem(reason: "it has \(text.count) bytes, but the limit is \(maximumTextByteCount)"))
        }
        var position = 0
        let isNegative = skipSign(text, &position)
        if position < text.count, isLetter(text[position]) {
            switch text[position...].map({ $0 | 0x20 }) {
            case Array("nan".utf8): return .success(.nan)
            case Array("inf".utf8), Array("infinity".utf8):
                return .success(isNegative ? -Decimal128.infinity : .infinity)
            default: return .failure(unexpected(text, position))
            }
        }
        var coefficient: UInt128 = 0
        var exponent = 0
        var (readDigits, foundDigits) = (0, false)
        var (hasPoint, hasRest) = (false, false)
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else if isDigit(byte) {
                foundDigits = true
                if readDigits < maximumReadDigits {
                    coefficient = coefficient * 10 + UInt128(byte & 15)
                    if coefficient != 0 { readDigits += 1 }
                    if hasPoint { exponent -= 1 }
                } else {
                    if byte != UInt8(ascii: "0") { hasRest = true }
                    if !hasPoint { exponent += 1 }
                }
            } else {
                break
            }
            position += 1
        }
        guard foundDigits else { return .failure(unexpected(text, position)) }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let isBelow = skipSign(text, &position)
            guard position < text.count, isDigit(text[position]) else { return .failure(unexpected(text, position)) }
            var given = 0
            while position < text.count, isDigit(text[position]) {
                given = Swift.min(given * 10 + Int(text[position] & 15), maximumReadExponent)
                position += 1
            }
            exponent += isBelow ? -given : given
        }
        guard position == text.count else { return .failure(unexpected(text, position)) }
        return .success(
            Decimal128(isNegative: isNegative, rounding: coefficient, exponent: exponent, hasRest: hasRest))
    }

    private static func skipSign(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: "-") || text[position] == UInt8(ascii: "+") else {
            return false
        }
        position += 1
        return text[position - 1] == UInt8(ascii: "-")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static func unexpected(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Problem {
        if text.isEmpty { return Problem(reason: "it is empty") }
        if position == text.count { return Problem(reason: "it ends where a digit is expected") }
        return Problem(reason: "unexpected text at byte \(position)")
    }
}

extension UInt128 {
    /// ASCII digits, at least one.
    fileprivate var decimalDigits: [UInt8] {
        guard self > UInt128(UInt64.max) else { return Array(String(UInt64(self)).utf8) }
        let lowDigits = 19
        let (upper, lower) = quotientAndRemainder(dividingBy: PowersOfTen[lowDigits])
        let low = Array(String(UInt64(lower)).utf8)
        return upper.decimalDigits + repeatElement(UInt8(ascii: "0"), count: lowDigits - low.count) + low
    }
}
