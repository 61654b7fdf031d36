extension Decimal128 {
    /// The decimal nearest to `(coefficient + rest) × 10^exponent`, ties to the even digit.
    ///
    /// - Parameters:
    ///   - coefficient: below 10³⁸. With a rest it has at least 35 digits, so that the rest can only break ties.
    ///   - exponent: any; numbers out of range become infinite or 0.
    ///   - hasRest: whether the exact number exceeds `coefficient` by something between 0 and 1.
    init(isNegative: Bool, rounding coefficient: UInt128, exponent: Int, hasRest: Bool = false) {
        var coefficient = coefficient
        var exponent = exponent
        let digits = PowersOfTen.digitCount(coefficient)
        let surplus = Swift.max(digits - Self.maximumDigits, Self.minimumExponent - exponent)
        if surplus > digits {
            // Less than a tenth of the least number, or zero.
            coefficient = 0
            exponent = Self.minimumExponent
        } else if surplus > 0 {
            let unit = PowersOfTen[surplus]
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: unit)
            let half = unit / 2
            let roundsUp = remainder > half || remainder == half && (hasRest || quotient & 1 == 1)
            coefficient = roundsUp ? quotient + 1 : quotient
            exponent += surplus
            if coefficient > Self.maximumCoefficient {
                coefficient /= 10
                exponent += 1
            }
        }
        let excess = exponent - Self.maximumExponent
        if excess > 0 {
            if coefficient != 0 {
                guard PowersOfTen.digitCount(coefficient) + excess <= Self.maximumDigits else {
                    self = isNegative ? -Decimal128.infinity : .infinity
                    return
                }
                coefficient *= PowersOfTen[excess]
            }
            exponent = Self.maximumExponent
        }
        self.init(isNegative: isNegative, exactCoefficient: coefficient, exponent: exponent)
    }

    /// The same number without trailing zeros in its fraction, as sums need it: `3.30` becomes `3.3`, and `10` stays `10`.
    package var withoutTrailingZeros: Decimal128 {
        guard isFinite, exponent < 0 else { return self }
        if coefficient == 0 { return Decimal128(isNegative: isSignMinus, exactCoefficient: 0, exponent: 0) }
        let (digits, exponent) = Self.strippingZeros(coefficient, exponent: exponent, upTo: 0)
        return Decimal128(isNegative: isSignMinus, exactCoefficient: digits, exponent: exponent)
    }

    /// The same number without trailing zeros in its coefficient, as long as the exponent stays within `limit`.
    static func strippingZeros(_ coefficient: UInt128, exponent: Int, upTo limit: Int) -> (UInt128, Int) {
        var coefficient = coefficient
        var exponent = exponent
        while exponent < limit, coefficient != 0 {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { break }
            coefficient = quotient
            exponent += 1
        }
        return (coefficient, exponent)
    }
}
