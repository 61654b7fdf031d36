import Crypto
import Foundation
import ServiceTestSupport

/// An authenticator app on a user's phone, following RFC 6238.
struct AuthenticatorApp {
    private let secret: [UInt8]

    /// - Parameter text: the secret in base32, in groups.
    init(typing text: String) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        let bits = text.compactMap { alphabet.firstIndex(of: $0) }.flatMap { value in
            (0..<5).map { value >> (4 - $0) & 1 == 1 }
        }
        secret = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }

    /// Sends codes until one is accepted. A code is valid for a minute; if that passed before the answer came, sends the next one.
    func take(_ send: (_ code: String) async throws -> Answer) async throws -> Answer {
        while true {
            let start = ContinuousClock.now
            let answer = try await send(code())
            if answer.status < 400 || ContinuousClock.now - start < .seconds(60) { return answer }
        }
    }

    /// The next code, as from a phone whose clock is half a minute ahead. It stays valid for another minute, so the test may be
    /// slow.
    func code() -> String {
        let step = UInt64(Int64(Date().timeIntervalSince1970) / 30 + 1)
        let message = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * UInt64($0))) }
        let hash = Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
        let start = Int(hash[19] & 15)
        let number =
            (Int(hash[start] & 127) << 24 | Int(hash[start + 1]) << 16 | Int(hash[start + 2]) << 8
                | Int(hash[start + 3])) % 1_000_000
        return String(String(1_000_000 + number).dropFirst())
    }
}
