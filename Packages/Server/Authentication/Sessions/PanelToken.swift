internal import Crypto
internal import Foundation

/// The content of a browser's cookie: 32 random bytes in base64url. The database only has their SHA-256 hash.
///
/// The token in forms, which protects against forged requests, is an HMAC with the cookie as its key. It can't be made
/// without the cookie, and is of no use in another session.
public struct PanelToken: Sendable {
    static let byteCount = 32
    private static let formPurpose = Data("tombolo panel form".utf8)

    let bytes: [UInt8]

    init() { bytes = .random(count: Self.byteCount) }

    /// - Returns: nil for text that never was a token.
    public init?(_ text: String) {
        guard text.utf8.count < 2 * Self.byteCount, let bytes = [UInt8](base64URL: text), bytes.count == Self.byteCount
        else { return nil }
        self.bytes = bytes
    }

    /// For the cookie. It must never be logged.
    public var text: String { bytes.base64URL }

    var hash: [UInt8] { bytes.sha256 }

    private var key: SymmetricKey { SymmetricKey(data: bytes) }

    /// The token in the session's forms.
    public var formToken: String {
        Array(HMAC<SHA256>.authenticationCode(for: Self.formPurpose, using: key)).base64URL
    }

    /// Whether this is the token of the session's forms. It takes the same time wherever the texts differ.
    public func accepts(formToken text: String) -> Bool {
        guard text.utf8.count < 2 * Self.byteCount, let code = [UInt8](base64URL: text) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.formPurpose, using: key)
    }

    /// A short text that can only have been made with this session's cookie: `MAC.TEXT` in base64url.
    public func sealed(_ text: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("seal ".utf8) + Data(text.utf8), using: key)
        return "\(Array(code).base64URL).\(Array(text.utf8).base64URL)"
    }

    /// 32 bytes that only this session's cookie can derive from a text, always the same ones.
    public func code(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data("code ".utf8) + Data(text.utf8), using: key))
    }

    /// The text that was passed to ``sealed(_:)``; nil for anything else.
    public func opened(_ sealed: String) -> String? {
        let parts = sealed.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let code = [UInt8](base64URL: parts[0]), let bytes = [UInt8](base64URL: parts[1]),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data("seal ".utf8) + Data(bytes), using: key)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension PanelToken: CustomStringConvertible, CustomReflectable {
    /// Without the token: it must not end up in logs.
    public var description: String { "<panel token>" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
