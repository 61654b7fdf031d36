/// The binary form of `numeric` (`numeric_send` in PostgreSQL's source): Int16 number of base-10000 digits, Int16
/// weight of the first, UInt16 sign, UInt16 digits shown after the point, then the digits as Int16.
enum PostgresNumeric {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let positiveInfinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000

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
