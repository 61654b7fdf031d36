/// Error correction of QR codes (ISO/IEC 18004, section 7.5 and annex A): the remainder of a polynomial division over
/// the field with 256 elements.
struct ReedSolomon: Sendable {
    /// The generator's coefficients, highest power first, without the leading 1.
    private let coefficients: [UInt8]

    /// - Parameter count: the number of error correction codewords.
    init(count: Int) {
        var coefficients = [UInt8](repeating: 0, count: count)
        coefficients[count - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in 0..<count {
                coefficients[index] = Self.product(coefficients[index], root)
                if index + 1 < count { coefficients[index] ^= coefficients[index + 1] }
            }
            root = Self.product(root, 2)
        }
        self.coefficients = coefficients
    }

    func correction(of data: [UInt8]) -> [UInt8] {
        var rest = [UInt8](repeating: 0, count: coefficients.count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for (index, coefficient) in coefficients.enumerated() { rest[index] ^= Self.product(coefficient, factor) }
        }
        return rest
    }

    /// The product in the field, modulo x^8 + x^4 + x^3 + x^2 + 1.
    private static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
        var result = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            result = result << 1 ^ (result >> 7) * 0x11d
            if other >> UInt8(bit) & 1 != 0 { result ^= Int(one) }
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
