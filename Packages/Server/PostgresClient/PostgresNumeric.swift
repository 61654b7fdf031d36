/// The binary form of `numeric` (`numeric_send` in PostgreSQL's source): Int16 number of base-10000 digits, Int16
/// weight of the first, UInt16 sign, UInt16 digits shown after the point, then the digits as Int16.
public enum PostgresNumeric {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let positiveInfinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000

    /// The number of digit groups kept: enough for 34 digits plus one group, since the first group may have only one
    /// digit.
    private static let maximumGroupCount = 10

    /// A number as digits and exponent, such as `-1250E-2`, or `NaN`, `Infinity`, `-Infinity`. Trailing zeros after the
    /// point are kept as long as there are less than 40 digits.
    ///
    /// A `numeric` may have 147,455 digits, but the text has at most 41. At least 37 digits are kept. If nonzero digits
    /// were dropped, a single 1 stands for them, so that rounding the text to fewer digits rounds the number correctly.
    /// - Parameter bytes: the binary form.
    /// - Returns: the text, or nil if the bytes aren't a number.
    public static func scientific(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 8 else { return nil }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
        let count = Int(word(0))
        guard bytes.count == 8 + count * 2 else { return nil }
        switch word(2) {
        case notANumber: return "NaN"
        case positiveInfinity: return "Infinity"
        case negativeInfinity: return "-Infinity"
        case 0, negative: break
        default: return nil
        }
        var digits: [UInt8] = []
        for index in 0..<min(count, maximumGroupCount) {
            let group = word(4 + index)
            guard group < 10_000 else { return nil }
            var place: UInt16 = 1_000
            while place > 0 {
                let digit = UInt8(truncatingIfNeeded: group / place % 10)
                if digit != 0 || !digits.isEmpty { digits.append(UInt8(ascii: "0") + digit) }
                place /= 10
            }
        }
        let taken = min(count, maximumGroupCount)
        var exponent = (Int(Int16(bitPattern: word(1))) - taken + 1) * 4
        let end = -Int(word(3))
        if (taken..<count).contains(where: { word(4 + $0) != 0 }) {
            digits.append(UInt8(ascii: "1"))
            exponent -= 1
        } else if digits.isEmpty {
            digits = [UInt8(ascii: "0")]
            exponent = end
        } else if exponent > end {
            // The binary form leaves out trailing zeros.
            let zeros = min(exponent - end, max(0, maximumGroupCount * 4 - digits.count))
            digits.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: zeros))
            exponent -= zeros
        } else {
            while exponent < end, digits.count > 1, digits.last == UInt8(ascii: "0") {
                digits.removeLast()
                exponent += 1
            }
        }
        return "\(word(2) == negative ? "-" : "")\(String(decoding: digits, as: UTF8.self))E\(exponent)"
    }

    static func text(_ bytes: UnsafeRawBufferPointer) throws(PostgresBinaryValue.Failure) -> String {
        guard bytes.count >= 8, bytes.count % 2 == 0 else { throw .malformed }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let scale = Int(word(3))
        guard bytes.count == 8 + count * 2 else { throw .malformed }
        switch word(2) {
        case notANumber: return "NaN"
        case positiveInfinity: return "Infinity"
        case negativeInfinity: return "-Infinity"
        default: break
        }
        func group(_ position: Int) throws(PostgresBinaryValue.Failure) -> String {
            let index = weight - position
            guard index >= 0, index < count else { return "0000" }
            let value = word(4 + index)
            guard value < 10_000 else { throw .malformed }
            let digits = String(value)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
        var whole = ""
        if weight >= 0 {
            for position in stride(from: weight, through: 0, by: -1) { whole += try group(position) }
        }
        whole = String(whole.drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        var fraction = ""
        var position = -1
        while fraction.count < scale {
            fraction += try group(position)
            position -= 1
        }
        fraction = String(fraction.prefix(scale))
        let sign = word(2) == negative ? "-" : ""
        return sign + whole + (fraction.isEmpty ? "" : "." + fraction)
    }
}
