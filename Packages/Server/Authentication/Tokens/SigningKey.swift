public import Foundation

/// A key that signs access tokens, without its private part. Its id is in the header of every token (`kid`).
public struct SigningKey: Hashable, Sendable {
    /// ECDSA on the curve P-256 with SHA-256 (RFC 7518, section 3.4), the only algorithm that keys are made for.
    public static let algorithm = "ES256"
    /// The most active keys. A rotation beyond that asks the operator to retire old ones.
    public static let maximumCount = 16

    public let id: String
    public let createdAt: Date
    /// Since when its tokens are refused; nil for an active key.
    public let retiredAt: Date?
    /// In PEM.
    let publicKey: String
}
