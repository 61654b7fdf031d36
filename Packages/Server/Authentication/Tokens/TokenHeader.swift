internal import Foundation

/// The header of a JSON Web Token (RFC 7515, section 4), read before anything else: which key and algorithm it claims.
/// It isn't trusted, only compared with what is expected.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String?
    /// Extensions that must be understood. This server supports none.
    let crit: [String]?

    /// - Returns: nil for text that isn't a token in the compact form.
    init?(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = [UInt8](base64URL: parts[0]),
            let header = try? JSONDecoder().decode(TokenHeader.self, from: Data(bytes)), header.crit == nil
        else { return nil }
        self = header
    }
}
