/// RFC 4648, section 6, without padding: the form in which authenticator apps take secrets.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var buffer = 0
        var bitCount = 0
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                text.append(alphabet[buffer >> bitCount & 31])
            }
            buffer &= (1 << bitCount) - 1
        }
        if bitCount > 0 { text.append(alphabet[buffer << (5 - bitCount) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }
}
