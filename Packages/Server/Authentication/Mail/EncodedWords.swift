/// Encodes text for a mail's header, which must be ASCII (RFC 2047).
enum EncodedWords {
    /// The longest content between `=?utf-8?Q?` and `?=`. A line may have 76 bytes, and the first one begins with the
    /// field's name.
    private static let maximumByteCount = 54

    /// Plain text stays as it is; other text becomes words of UTF-8, each on its own line.
    static func text(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return text }
        var words = [""]
        // A character isn't split between words.
        for scalar in text.unicodeScalars {
            let piece = scalar.utf8.map(quoted).joined()
            if words[words.count - 1].utf8.count + piece.utf8.count > maximumByteCount { words.append("") }
            words[words.count - 1] += piece
        }
        return words.map { "=?utf-8?Q?\($0)?=" }.joined(separator: "\n ")
    }

    private static func quoted(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: " "): "_"
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            String(UnicodeScalar(byte))
        default:
            (byte < 16 ? "=0" : "=") + String(byte, radix: 16, uppercase: true)
        }
    }
}
