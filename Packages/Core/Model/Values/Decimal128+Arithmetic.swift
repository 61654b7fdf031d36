extension Decimal128 {
    public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        guard left.isFinite, right.isFinite else {
            if left.isNaN || right.isNaN { return .nan }
            if left.isFinite { return right }
            if right.isFinite { return left }
            return left.isSignMinus == right.isSignMinus ? left : .nan
        }
        let (upper, lower) = left.exponent >= right.exponent ? (left, right) : (right, left)
        if upper.coefficient == 0 {
            // At the lower exponent, all digits of the sum fit.
            if lower.coefficient != 0 || lower.isSignMinus == upper.isSignMinus { return lower }
            return Decimal128(isNegative: false, exactCoefficient: 0, exponent: lower.exponent)
        }
        // The upper number is extended with zeros until the exponents are equal or it has 37 digits. Whatever part of
        // the lower number is still below the last digit only decides how the sum is rounded.
        let gap = upper.exponent - lower.exponent
        let shift = Swift.min(gap, maximumShiftedDigits - PowersOfTen.digitCount(upper.coefficient))
        let shifted = upper.coefficient * PowersOfTen[shift]
        let exponent = upper.exponent - shift
        let (addend, hasRest) = lower.coefficient.shiftedRight(digits: gap - shift)
        if upper.isSignMinus == lower.isSignMinus {
            return Decimal128(
                isNegative: upper.isSignMinus, rounding: shifted + addend, exponent: exponent, hasRest: hasRest)
        }
        if shifted == addend, !hasRest {
            return Decimal128(isNegative: false, exactCoefficient: 0, exponent: exponent)
        }
        if shifted > addend {
            // Subtracting something below the last digit borrows from that digit and leaves a remainder.
            return Decimal128(
                isNegative: upper.isSignMinus, rounding: shifted - addend - (hasRest ? 1 : 0), exponent: exponent,
                hasRest: hasRest)
        }
        return Decimal128(isNegative: lower.isSignMinus, rounding: addend - shifted, exponent: exponent)
    }

    /// Leaves room for the carry of a sum within 38 digits.
    private static let maximumShiftedDigits = PowersOfTen.maximumExponent - 1

    public static func - (left: Decimal128, right: Decimal128) -> Decimal128 { left + -right }

    public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        if left.isNaN || right.isNaN { return .nan }
        let isNegative = left.isSignMinus != right.isSignMinus
        guard left.isFinite, right.isFinite else {
            if left.isZero || right.isZero { return .nan }
            return isNegative ? -Decimal128.infinity : .infinity
        }
        let (a, b) = (left.coefficient, right.coefficient)
        let exponent = left.exponent + right.exponent
        let product = a.multipliedFullWidth(by: b)
        let surplus = PowersOfTen.digitCount(a) + PowersOfTen.digitCount(b) - PowersOfTen.maximumExponent
        guard surplus > 0 else {
            return Decimal128(isNegative: isNegative, rounding: product.low, exponent: exponent)
        }
        // The quotient has 37 or 38 digits.
        let (quotient, remainder) = PowersOfTen[surplus].dividingFullWidth(product)
        return Decimal128(
            isNegative: isNegative, rounding: quotient, exponent: exponent + surplus, hasRest: remainder != 0)
    }

    /// Dividing by 0 gives infinity; `0 / 0` gives NaN.
    public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        if left.isNaN || right.isNaN { return .nan }
        let isNegative = left.isSignMinus != right.isSignMinus
        if left.isInfinite { return right.isInfinite ? .nan : (isNegative ? -Decimal128.infinity : .infinity) }
        if right.isInfinite { return Decimal128(isNegative: isNegative, rounding: 0, exponent: minimumExponent) }
        let (a, b) = (left.coefficient, right.coefficient)
        if b == 0 { return a == 0 ? .nan : (isNegative ? -Decimal128.infinity : .infinity) }
        let preferredExponent = left.exponent - right.exponent
        if a == 0 { return Decimal128(isNegative: isNegative, rounding: 0, exponent: preferredExponent) }
        // `a` is extended to 38 digits, plus as many as `b` has after its first, so that the quotient has 37 or 38.
        let firstZeros = PowersOfTen.maximumExponent - PowersOfTen.digitCount(a)
        let moreZeros = PowersOfTen.digitCount(b) - 1
        let dividend = (a * PowersOfTen[firstZeros]).multipliedFullWidth(by: PowersOfTen[moreZeros])
        let (quotient, remainder) = b.dividingFullWidth(dividend)
        let exponent = preferredExponent - firstZeros - moreZeros
        guard remainder == 0 else {
            return Decimal128(isNegative: isNegative, rounding: quotient, exponent: exponent, hasRest: true)
        }
        let (coefficient, stripped) = strippingZeros(quotient, exponent: exponent, upTo: preferredExponent)
        return Decimal128(isNegative: isNegative, rounding: coefficient, exponent: stripped)
    }

    public static func += (left: inout Decimal128, right: Decimal128) { left = left + right }
    public static func -= (left: inout Decimal128, right: Decimal128) { left = left - right }
    public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
    public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
}

extension Decimal128: SignedNumeric, Strideable {
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
}

extension UInt128 {
    /// The number without its last digits, and whether any of them wasn't 0.
    fileprivate func shiftedRight(digits: Int) -> (UInt128, hasRest: Bool) {
        guard digits <= PowersOfTen.maximumExponent else { return (0, self != 0) }
        let (quotient, remainder) = quotientAndRemainder(dividingBy: PowersOfTen[digits])
        return (quotient, remainder != 0)
    }
}
