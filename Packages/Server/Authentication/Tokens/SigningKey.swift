public import Foundation

/// A key that access tokens are signed with, without its secret part. Its id is in the header of every token (`kid`).
public struct SigningKey: Hashable, Sendable {
    /// ECDSA on the curve P-256 with SHA-256 (RFC 7518, section 3.4), the only algorithm that keys are made for.
    public static let algorithm = "ES256"
    /// Keys that count at a time; a rotation beyond that asks to retire old ones.
    public static let maximumCount = 16

    public let id: String
    public let createdAt: Date
    /// Since then its tokens are refused; nil for a key that counts.
    public let retiredAt: Date?
    /// In PEM.
    let publicKey: String
}
