internal import Foundation

/// A code on paper for somebody whose phone is gone: 80 random bits, good once. The database has its SHA-256 hash: nobody
/// tries 2^80 codes.
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

    /// What somebody typed, without what only helps to read it.
    static func normalized(_ text: String) -> String { text.lowercased().filter { $0 != "-" && !$0.isWhitespace } }

    /// - Parameter code: normalized.
    static func hash(_ code: String) -> [UInt8] { Array("tombolo recovery code \(code)".utf8).sha256 }
}
