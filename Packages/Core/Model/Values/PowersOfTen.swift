/// The powers of ten that fit in 128 bits, and the digit counts of numbers of that size.
enum PowersOfTen {
    /// 10³⁸ is the largest.
    static let maximumExponent = 38

    private static let powers: [UInt128] = (0..<maximumExponent).reduce(into: [1]) { powers, _ in
        powers.append(powers[powers.count - 1] * 10)
    }

    /// 10 to the given power, from 0 to ``maximumExponent``.
    static subscript(exponent: Int) -> UInt128 { powers[exponent] }

    /// The number of decimal digits of a number; 0 has none.
    static func digitCount(_ number: UInt128) -> Int {
        let bits = UInt128.bitWidth - number.leadingZeroBitCount
        // 1233 / 4096 is just below log₁₀ 2, so the estimate is right or one too low.
        let estimate = (bits * 1233) >> 12
        return number >= powers[estimate] ? estimate + 1 : estimate
    }
}
