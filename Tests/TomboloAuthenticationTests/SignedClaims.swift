import Crypto
import Foundation

/// Tokens with whatever claims, as somebody who has the secret could make them.
enum SignedClaims {
    /// - Parameter claims: JSON text.
    static func token(_ claims: String, secret: String) -> String {
        let text = "\(part(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))).\(part(Data(claims.utf8)))"
        let key = SymmetricKey(data: Data(secret.utf8))
        return "\(text).\(part(Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))))"
    }

    private static func part(_ data: Data) -> String {
        data.base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    }
}
