internal import JWTKit

/// Tokens with valid signatures, so that each signature is checked once and not with every request. It's a value, whose
/// owner holds the lock. Tokens are stored as hashes: nothing in here could be used to log in.
struct VerifiedTokens: Sendable {
    /// The most tokens that are remembered. Beyond that, tokens that are expired or signed with former keys are
    /// forgotten, or else all.
    static let maximumCount = 10_000

    struct Entry: Sendable {
        let keyID: String
        /// The signature counts as valid while these are the keys.
        let keys: JWTKeyCollection
        let claims: TokenClaims
    }

    private var entries: [[UInt8]: Entry] = [:]

    var count: Int { entries.count }

    func entry(_ hash: [UInt8]) -> Entry? { entries[hash] }

    /// - Parameter now: in seconds since 1970.
    mutating func insert(_ entry: Entry, _ hash: [UInt8], now: Int64) {
        if entries[hash] == nil, entries.count >= Self.maximumCount {
            entries = entries.filter { $0.value.claims.exp > now && $0.value.keys === entry.keys }
            if entries.count >= Self.maximumCount { entries.removeAll(keepingCapacity: true) }
        }
        entries[hash] = entry
    }
}
