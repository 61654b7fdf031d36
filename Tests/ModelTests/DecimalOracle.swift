import TomboloModel

/// Exact decimal arithmetic on lists of digits. It's slow and simple, so that Decimal128 can be checked against it.
struct DecimalOracle {
    var isNegative: Bool
    /// The digits, least significant first; empty for 0.
    var digits: [Int]
    var exponent: Int

    /// Reads the text of a finite Decimal128.
    init(_ text: String) {
        let parts = text.split(separator: "E")
        let mantissa = parts[0].drop { $0 == "-" }
        let fraction = mantissa.split(separator: ".", omittingEmptySubsequences: false).dropFirst().first ?? ""
        isNegative = text.hasPrefix("-")
        digits = mantissa.filter { $0 != "." }.compactMap(\.wholeNumberValue).reversed()
        exponent = (parts.count > 1 ? Int(parts[1])! : 0) - fraction.count
        trim()
    }

    init(isNegative: Bool, digits: [Int], exponent: Int) {
        (self.isNegative, self.digits, self.exponent) = (isNegative, digits, exponent)
        trim()
    }

    private mutating func trim() { while digits.last == 0 { digits.removeLast() } }

    /// Sign, digits and exponent, without leading or trailing zeros.
    var canonical: String {
        guard let zeros = digits.firstIndex(where: { $0 != 0 }) else { return "0" }
        let text = digits[zeros...].reversed().map(String.init).joined()
        return "\(isNegative ? "-" : "")\(text)E\(exponent + zeros)"
    }

    /// Rounded to 34 digits, ties to even. The exponent must be one that a Decimal128 can have.
    var rounded: DecimalOracle {
        let surplus = digits.count - 34
        guard surplus > 0 else { return self }
        var kept = Array(digits[surplus...])
        let first = digits[surplus - 1]
        let hasRest = digits[..<(surplus - 1)].contains { $0 != 0 }
        if first > 5 || first == 5 && (hasRest || kept[0] % 2 == 1) { kept = Self.sum(kept, [1]) }
        return DecimalOracle(isNegative: isNegative, digits: kept, exponent: exponent + surplus)
    }

    static func + (left: DecimalOracle, right: DecimalOracle) -> DecimalOracle {
        let exponent = min(left.exponent, right.exponent)
        let a = Array(repeating: 0, count: left.exponent - exponent) + left.digits
        let b = Array(repeating: 0, count: right.exponent - exponent) + right.digits
        if left.isNegative == right.isNegative {
            return DecimalOracle(isNegative: left.isNegative, digits: sum(a, b), exponent: exponent)
        }
        return isLess(a, b)
            ? DecimalOracle(isNegative: right.isNegative, digits: difference(b, a), exponent: exponent)
            : DecimalOracle(isNegative: left.isNegative, digits: difference(a, b), exponent: exponent)
    }

    static func * (left: DecimalOracle, right: DecimalOracle) -> DecimalOracle {
        var product = Array(repeating: 0, count: left.digits.count + right.digits.count + 1)
        for (i, a) in left.digits.enumerated() {
            for (j, b) in right.digits.enumerated() { product[i + j] += a * b }
        }
        for index in product.indices.dropLast() {
            product[index + 1] += product[index] / 10
            product[index] %= 10
        }
        return DecimalOracle(
            isNegative: left.isNegative != right.isNegative, digits: product,
            exponent: left.exponent + right.exponent)
    }

    /// 80 digits of the quotient, then a digit 1 if there is a remainder.
    static func / (left: DecimalOracle, right: DecimalOracle) -> DecimalOracle {
        let zeros = 80
        var remainder: [Int] = []
        var quotient: [Int] = []
        for digit in left.digits.reversed() + Array(repeating: 0, count: zeros) {
            remainder.insert(digit, at: 0)
            while remainder.last == 0 { remainder.removeLast() }
            var count = 0
            while !isLess(remainder, right.digits) {
                remainder = difference(remainder, right.digits)
                while remainder.last == 0 { remainder.removeLast() }
                count += 1
            }
            quotient.insert(count, at: 0)
        }
        quotient.insert(remainder.isEmpty ? 0 : 1, at: 0)
        return DecimalOracle(
            isNegative: left.isNegative != right.isNegative, digits: quotient,
            exponent: left.exponent - right.exponent - zeros - 1)
    }

    static func < (left: DecimalOracle, right: DecimalOracle) -> Bool {
        let difference =
            left
            + DecimalOracle(
                isNegative: !right.isNegative, digits: right.digits, exponent: right.exponent)
        return !difference.digits.isEmpty && difference.isNegative
    }

    private static func isLess(_ a: [Int], _ b: [Int]) -> Bool {
        let (a, b) = (a.reversed().drop { $0 == 0 }, b.reversed().drop { $0 == 0 })
        return a.count != b.count ? a.count < b.count : a.lexicographicallyPrecedes(b)
    }

    private static func sum(_ a: [Int], _ b: [Int]) -> [Int] {
        var carry = 0
        return (0...max(a.count, b.count)).map { index in
            let total = (index < a.count ? a[index] : 0) + (index < b.count ? b[index] : 0) + carry
            carry = total / 10
            return total % 10
        }
    }

    /// Requires that `a` is at least `b`.
    private static func difference(_ a: [Int], _ b: [Int]) -> [Int] {
        var borrow = 0
        return a.indices.map { index in
            let rest = a[index] - (index < b.count ? b[index] : 0) - borrow
            borrow = rest < 0 ? 1 : 0
            return rest < 0 ? rest + 10 : rest
        }
    }
}
