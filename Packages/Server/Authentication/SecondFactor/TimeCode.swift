internal import Crypto
internal import Foundation

/// The codes that an authenticator app shows: HOTP (RFC 4226) of the time (RFC 6238), with the parameters that every
/// app supports: SHA-1, six digits, and a new code every 30 seconds.
struct TimeCode: Sendable {
    static let stepSeconds: Int64 = 30
    static let digitCount = 6
    /// RFC 4226, section 4, recommends 160 bits.
    static let secretByteCount = 20
    /// How many steps a phone's clock may be ahead or behind (RFC 6238, section 5.2).
    static let toleratedSteps: Int64 = 1

    let secret: [UInt8]

    /// - Parameter seconds: since 1970.
    static func step(at seconds: Int64) -> Int64 { seconds / stepSeconds }

    /// The code of a step, with `digitCount` digits.
    func code(step: Int64, digitCount: Int = Self.digitCount) -> String {
        let counter = withUnsafeBytes(of: UInt64(bitPattern: step).bigEndian) { Data($0) }
        let hash = Array(
            HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: Data(secret))))
        // RFC 4226, section 5.3: four bytes at the offset in the last half-byte, without the sign bit.
        let offset = Int(hash[hash.count - 1] & 15)
        let number = hash[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
        let modulus = (0..<digitCount).reduce(UInt32(1)) { value, _ in value * 10 }
        let digits = String(number % modulus)
        return String(repeating: "0", count: digitCount - digits.count) + digits
    }

    /// The step of a code, among those that a clock near `seconds` may show; nil if it's none of them. It takes the
    /// same time wherever the texts differ.
    func step(of code: String, at seconds: Int64) -> Int64? {
        let now = Self.step(at: seconds)
        var found: Int64?
        for step in (now - Self.toleratedSteps)...(now + Self.toleratedSteps)
        where Self.isEqual(self.code(step: step), code) {
            found = step
        }
        return found
    }

    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The URI that authenticator apps read from a QR code.
    /// - Parameters:
    ///   - issuer: the name that the app shows beside the account.
    ///   - account: an address.
    func uri(issuer: String, account: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        }
        return
            "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(Base32.text(secret))&issuer=\(escaped(issuer))"
    }
}

extension TimeCode: CustomStringConvertible, CustomReflectable {
    /// Without the secret: it must not end up in logs.
    var description: String { "<secret of a second factor>" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
