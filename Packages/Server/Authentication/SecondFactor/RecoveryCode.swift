internal import Foundation

/// A code on paper for somebody who has lost their phone: 80 random bits, valid once. The database has its SHA-256
/// hash, which is enough: nobody can try 2^80 codes.
enum RecoveryCode {
    static let count = 10
    static let byteCount = 10
    private static let groupLength = 4

    /// `abcd-efgh-ijkl-mnop`
    static func generate() -> String {
        let text = Base32.text(.random(count: byteCount)).lowercased()
        return stride(from: 0, to: text.count, by: groupLength).map { start in
            String(text.dropFirst(start).prefix(groupLength))
        }.joined(separator: "-")
    }

    /// What somebody typed, without the separators that only make it readable.
    static func normalized(_ text: String) -> String { text.lowercased().filter { $0 != "-" && !$0.isWhitespace } }

    /// - Parameter code: normalized.
    static func hash(_ code: String) -> [UInt8] { Array("tombolo recovery code \(code)".utf8).sha256 }
}
