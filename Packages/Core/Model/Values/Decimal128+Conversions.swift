public import Foundation

extension Decimal128 {
    /// A whole number, rounded if it has more than 34 digits.
    public init(_ value: some BinaryInteger) {
        let isNegative = value < 0
        if let magnitude = UInt128(exactly: value.magnitude), magnitude < PowersOfTen[PowersOfTen.maximumExponent] {
            self.init(isNegative: isNegative, rounding: magnitude, exponent: 0)
        } else {
            // Only reached for types wider than 64 bits.
            self = Decimal128(String(value)) ?? (isNegative ? -Decimal128.infinity : .infinity)
        }
    }

    /// A whole number, or nil if it would have to be rounded.
    public init?(exactly source: some BinaryInteger) {
        self.init(source)
        guard let back = UInt128(exactly: source.magnitude), isFinite, exponent <= PowersOfTen.maximumExponent,
            exponent == 0 || coefficient.multipliedReportingOverflow(by: PowersOfTen[exponent]) == (back, false)
        else { return nil }
    }

    /// The number rounded to 15 significant digits, which any `Double` can represent: both 0.1 and
    /// 0.1000000000000000055 become 0.1.
    public init(_ value: Double) { self.init(value, digits: 15) }

    /// The number rounded to 7 significant digits, as in Realm.
    public init(_ value: Float) { self.init(Double(value), digits: 7) }

    private init(_ value: Double, digits: Int) {
        guard value.isFinite else {
            self = value.isNaN ? .nan : (value < 0 ? -Decimal128.infinity : .infinity)
            return
        }
        let scientific = String(format: "%.\(digits - 1)e", value)
        guard let rounded = Decimal128(scientific) else {
            preconditionFailure("'\(scientific)' is not a number.")
        }
        // Zeros after the decimal point carry no information and are removed; zeros before it stay.
        let (coefficient, exponent) = Self.strippingZeros(rounded.coefficient, exponent: rounded.exponent, upTo: 0)
        self.init(
            isNegative: value.sign == .minus, rounding: coefficient, exponent: coefficient == 0 ? 0 : exponent)
    }

    /// The number rounded to 34 digits; a `Decimal` has up to 38.
    public init(_ value: Decimal) {
        // Its description has all digits and no exponent.
        self = value.isNaN ? .nan : Decimal128(value.description) ?? .nan
    }

    /// Converts any number. Floating-point numbers are rounded like `Double` and `Float`.
    public init(number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self.init(decimal.decimalValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"): self.init(number.doubleValue)
        case UInt8(ascii: "f"): self.init(number.floatValue)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): self.init(number.uint64Value)
        default: self.init(number.int64Value)
        }
    }

    /// Converts a number of any type, or a string. `NSNull` becomes NaN. Stops the program for other types and for
    /// strings that aren't numbers, so use ``init(string:)`` for external input.
    public init(value: Any) {
        switch value {
        case let value as Decimal128: self = value
        case let value as String: self.init(stringLiteral: value)
        case let value as any BinaryInteger: self.init(value)
        case let value as Decimal: self.init(value)
        // Checked before Double: a Float in an NSNumber would also convert to Double, with all its binary digits.
        case let value as NSNumber: self.init(number: value)
        case let value as Double: self.init(value)
        case let value as Float: self.init(value)
        case is NSNull: self = .nan
        default:
            fatalError("A Decimal128 cannot be created from a \(type(of: value)): pass a number or a string.")
        }
    }

    /// The nearest `Double`; infinite if the number is out of range.
    public var doubleValue: Double {
        guard isFinite else { return isNaN ? .nan : (isSignMinus ? -.infinity : .infinity) }
        return Double(description) ?? .nan
    }

    /// The nearest `Decimal`, whose exponents range from -128 to 127; `Decimal.nan` if the number is out of range.
    public var decimalValue: Decimal {
        guard isFinite else { return .nan }
        var (coefficient, exponent) = Self.strippingZeros(coefficient, exponent: exponent, upTo: .max)
        if exponent > Self.decimalExponents.upperBound {
            let zeros = exponent - Self.decimalExponents.upperBound
            guard PowersOfTen.digitCount(coefficient) + zeros <= PowersOfTen.maximumExponent else { return .nan }
            coefficient *= PowersOfTen[zeros]
            exponent -= zeros
        } else if exponent < Self.decimalExponents.lowerBound {
            let surplus = Self.decimalExponents.lowerBound - exponent
            guard surplus <= Self.maximumDigits else { return 0 }
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: PowersOfTen[surplus])
            let half = PowersOfTen[surplus] / 2
            let roundsUp = remainder > half || remainder == half && quotient & 1 == 1
            (coefficient, exponent) = (roundsUp ? quotient + 1 : quotient, Self.decimalExponents.lowerBound)
        }
        // Converted in two halves, because a Decimal can be made from at most 64 bits.
        let (upper, lower) = coefficient.quotientAndRemainder(dividingBy: PowersOfTen[19])
        let whole = Decimal(UInt64(upper)) * Decimal(UInt64(PowersOfTen[19])) + Decimal(UInt64(lower))
        return Decimal(sign: isSignMinus ? .minus : .plus, exponent: exponent, significand: whole)
    }

    private static let decimalExponents = -128...127
}

extension FixedWidthInteger {
    /// The same whole number, or nil for fractions and for numbers that don't fit this type.
    public init?(exactly source: Decimal128) {
        guard source.isFinite else { return nil }
        let (coefficient, exponent) = Decimal128.strippingZeros(source.coefficient, exponent: source.exponent, upTo: 0)
        if coefficient == 0 {
            self = 0
            return
        }
        guard exponent >= 0, exponent <= PowersOfTen.maximumExponent else { return nil }
        let (whole, overflows) = coefficient.multipliedReportingOverflow(by: PowersOfTen[exponent])
        guard !overflows else { return nil }
        if source.isSignMinus {
            guard let signed = Int128(exactly: whole) else { return nil }
            self.init(exactly: -signed)
        } else {
            self.init(exactly: whole)
        }
    }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self.init(value) }

    /// Literals with a decimal point are first converted to `Double`. Write numbers of more than 15 digits as strings.
    public init(floatLiteral value: Double) { self.init(value) }

    /// Stops the program if the text isn't a number.
    public init(stringLiteral value: String) {
        do {
            try self.init(string: value)
        } catch {
            fatalError(error.message)
        }
    }
}
