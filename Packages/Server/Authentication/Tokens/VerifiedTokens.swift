internal import JWTKit

/// Tokens whose signatures were found good, so that it's checked once for each and not with every request: a value, its
/// owner holds the lock. Tokens are known by their hashes: this keeps nothing that somebody could log in with.
struct VerifiedTokens: Sendable {
    /// How many tokens are remembered; one more makes those forgotten that are used no longer, or else all.
    static let maximumCount = 10_000

    struct Entry: Sendable {
        let keyID: String
        /// The signature counts for as long as these are the keys.
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
