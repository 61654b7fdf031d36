/// An IEEE 754-2008 decimal128: a decimal floating-point number with 34 significant digits and exponents from -6176 to
/// 6111.
///
/// A number keeps the digits it was given: `1.0` and `1.00` print differently, but they're equal, hash alike and sort
/// alike, and so do `0` and `-0`. There is one NaN, which equals itself and is less than every other number, so that
/// decimals have a total order, as in Realm. Results that need more than 34 digits are rounded to the nearest, ties to
/// the even digit; results out of range become infinite or zero.
public struct Decimal128: Sendable {
    // The number in the standard's binary integer encoding (BID), always in canonical form:
    //   bit 127       sign
    //   bits 113…126  exponent + 6176
    //   bits 0…112    coefficient, at most 34 digits of 9
    // Exponent bits that begin with 11110 mean infinity, and 11111 means NaN; all their other bits are 0.
    package let high: UInt64
    package let low: UInt64

    /// The maximum number of digits in a coefficient.
    package static let maximumDigits = 34
    /// The smallest power of ten by which a coefficient is multiplied.
    package static let minimumExponent = -6176
    /// The largest power of ten by which a coefficient is multiplied.
    package static let maximumExponent = 6111
    /// 34 nines.
    package static let maximumCoefficient = PowersOfTen[maximumDigits] - 1

    private static let signBit: UInt64 = 1 << 63
    private static let infinityBits: UInt64 = 0x7800_0000_0000_0000
    private static let nanBits: UInt64 = 0x7c00_0000_0000_0000
    private static let exponentShift: UInt64 = 49
    private static let exponentMask: UInt64 = 0x3fff
    private static let highCoefficientMask: UInt64 = 1 << exponentShift - 1

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An exact finite number, not rounded.
    /// - Parameters:
    ///   - coefficient: at most ``maximumCoefficient``.
    ///   - exponent: from ``minimumExponent`` to ``maximumExponent``.
    init(isNegative: Bool, exactCoefficient coefficient: UInt128, exponent: Int) {
        precondition(coefficient <= Self.maximumCoefficient, "The coefficient has more than 34 digits.")
        self.init(
            high: (isNegative ? Self.signBit : 0)
                | UInt64(exponent - Self.minimumExponent) << Self.exponentShift
                | UInt64(truncatingIfNeeded: coefficient >> 64),
            low: UInt64(truncatingIfNeeded: coefficient))
    }

    /// Reads the standard's 128 bits. Drops bits without meaning: the payload of a NaN, and coefficients of more than
    /// 34 digits, which the standard reads as 0.
    package init(highBits high: UInt64, lowBits low: UInt64) {
        let isNegative = high & Self.signBit != 0
        if high & Self.nanBits == Self.nanBits {
            self = .nan
        } else if high & Self.infinityBits == Self.infinityBits {
            self = isNegative ? -Decimal128.infinity : .infinity
        } else if high >> 61 & 3 == 3 {
            // The encoding's second form: all its coefficients have more than 34 digits.
            self.init(
                isNegative: isNegative, exactCoefficient: 0,
                exponent: Int(high >> (Self.exponentShift - 2) & Self.exponentMask) + Self.minimumExponent)
        } else {
            let coefficient = UInt128(high & Self.highCoefficientMask) << 64 | UInt128(low)
            self.init(
                isNegative: isNegative, exactCoefficient: coefficient <= Self.maximumCoefficient ? coefficient : 0,
                exponent: Int(high >> Self.exponentShift & Self.exponentMask) + Self.minimumExponent)
        }
    }

    /// Zero.
    public init() { self = .zero }

    public static let zero = Decimal128(isNegative: false, exactCoefficient: 0, exponent: 0)
    /// Not a number, such as `0 / 0`. Less than every number, and equal to itself.
    public static let nan = Decimal128(high: nanBits, low: 0)
    public static let infinity = Decimal128(high: infinityBits, low: 0)
    /// The least finite number: `-9.999…E+6144`, 34 digits.
    public static let min = Decimal128(
        isNegative: true, exactCoefficient: maximumCoefficient, exponent: maximumExponent)
    /// The greatest finite number: `9.999…E+6144`, 34 digits.
    public static let max = Decimal128(
        isNegative: false, exactCoefficient: maximumCoefficient, exponent: maximumExponent)

    public var isNaN: Bool { high & Self.nanBits == Self.nanBits }
    /// Whether this is a NaN; all NaNs are alike.
    public var isSignaling: Bool { isNaN }
    /// Whether this is a NaN; all NaNs are alike.
    public var isSignalingNaN: Bool { isNaN }
    public var isInfinite: Bool { high & Self.nanBits == Self.infinityBits }
    public var isFinite: Bool { high & Self.infinityBits != Self.infinityBits }
    public var isZero: Bool { isFinite && coefficient == 0 }
    /// Whether the sign is minus, including that of `-0`.
    public var isSignMinus: Bool { high & Self.signBit != 0 }

    /// The digits as a whole number; 0 for infinities and NaN.
    package var coefficient: UInt128 { UInt128(high & Self.highCoefficientMask) << 64 | UInt128(low) }

    /// The power of ten by which ``coefficient`` is multiplied. Only for finite numbers.
    package var exponent: Int { Int(high >> Self.exponentShift & Self.exponentMask) + Self.minimumExponent }

    /// The number without its sign.
    public var magnitude: Decimal128 { Decimal128(high: high & ~Self.signBit, low: low) }

    public static prefix func - (number: Decimal128) -> Decimal128 {
        number.isNaN ? number : Decimal128(high: number.high ^ signBit, low: number.low)
    }

    /// Changes the sign.
    public mutating func negate() { self = -self }
}
