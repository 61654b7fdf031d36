internal import Crypto
internal import Foundation

extension [UInt8] {
    /// From the system's generator.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
    }

    var sha256: [UInt8] { Array(SHA256.hash(data: self)) }

    /// RFC 4648, section 5, without padding.
    var base64URL: String {
        Data(self).base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    }

    /// The bytes of text in base64url without padding; nil for any other text.
    init?(base64URL text: some StringProtocol) {
        guard text.utf8.allSatisfy({ Self.isBase64URL($0) }) else { return nil }
        let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding) else { return nil }
        self = Array(data)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension String {
    /// Longer texts can't be our secrets, in bytes.
    private static let maximumSecretTextByteCount = 256

    /// The bytes in base64url after a prefix that identifies this kind of secret.
    func bytes(after prefix: String) -> [UInt8]? {
        guard utf8.count <= Self.maximumSecretTextByteCount, hasPrefix(prefix) else { return nil }
        return [UInt8](base64URL: dropFirst(prefix.count))
    }
}
