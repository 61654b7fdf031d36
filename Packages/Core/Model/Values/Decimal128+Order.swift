extension Decimal128: Hashable, Comparable {
    /// Compares the numbers, however they're written. NaN equals itself.
    public static func == (left: Decimal128, right: Decimal128) -> Bool {
        left.low == right.low && left.high == right.high || order(left, right) == 0
    }

    /// Compares the numbers; NaN comes first.
    public static func < (left: Decimal128, right: Decimal128) -> Bool { order(left, right) < 0 }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(place)
        guard isFinite else { return }
        let (coefficient, exponent) = Self.strippingZeros(coefficient, exponent: exponent, upTo: .max)
        hasher.combine(coefficient)
        if coefficient != 0 { hasher.combine(exponent) }
    }

    /// Orders any two numbers, NaN first: returns -1, 0 or 1.
    package static func order(_ left: Decimal128, _ right: Decimal128) -> Int {
        let (a, b) = (left.place, right.place)
        guard a == b else { return a.rawValue < b.rawValue ? -1 : 1 }
        switch a {
        case .nan, .negativeInfinity, .zero, .infinity: return 0
        case .positive: return magnitudeOrder(left, right)
        case .negative: return -magnitudeOrder(left, right)
        }
    }

    /// The first byte of ``orderKey``: the kind of a number, in sort order.
    private enum Place: UInt8 {
        case nan, negativeInfinity, negative, zero, positive, infinity
    }

    private var place: Place {
        if !isFinite { return isNaN ? .nan : (isSignMinus ? .negativeInfinity : .infinity) }
        if coefficient == 0 { return .zero }
        return isSignMinus ? .negative : .positive
    }

    /// Orders two finite nonzero numbers, ignoring their signs.
    private static func magnitudeOrder(_ left: Decimal128, _ right: Decimal128) -> Int {
        let (a, b) = (left.firstDigitExponent, right.firstDigitExponent)
        if a != b { return a < b ? -1 : 1 }
        // Both start at the same power of ten, so the exponents differ by less than 34.
        let gap = left.exponent - right.exponent
        let x = gap > 0 ? left.coefficient * PowersOfTen[gap] : left.coefficient
        let y = gap < 0 ? right.coefficient * PowersOfTen[-gap] : right.coefficient
        return x == y ? 0 : (x < y ? -1 : 1)
    }

    /// The power of ten above the first digit: from -6175 to 6145.
    private var firstDigitExponent: Int { exponent + PowersOfTen.digitCount(coefficient) }

    /// Bytes that sort like the numbers when compared as unsigned, for databases that sort by bytes. Equal numbers have
    /// equal keys.
    ///
    /// NaN, zero and the infinities have one byte, which is their kind. Other numbers have 18: that byte, then 2 for
    /// the power of ten of the first digit (plus 6176), then 15 for the coefficient, padded with zeros to 34 digits.
    /// The last 17 are inverted for negative numbers. `1`, `1.0` and `10E-1` are all `04 1821 00314dc6448d93…`.
    package var orderKey: [UInt8] {
        let place = place
        guard place == .positive || place == .negative else { return [place.rawValue] }
        var key: [UInt8] = []
        key.reserveCapacity(Self.orderKeyByteCount)
        let inversion: UInt8 = place == .negative ? 0xff : 0
        let power = UInt16(firstDigitExponent - Self.minimumExponent)
        let digits = coefficient * PowersOfTen[Self.maximumDigits - PowersOfTen.digitCount(coefficient)]
        key.append(place.rawValue)
        key.append(UInt8(truncatingIfNeeded: power >> 8) ^ inversion)
        key.append(UInt8(truncatingIfNeeded: power) ^ inversion)
        for shift in stride(from: 112, through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: digits >> UInt128(shift)) ^ inversion)
        }
        return key
    }

    /// The length of the keys of finite nonzero numbers.
    private static let orderKeyByteCount = 18
}
