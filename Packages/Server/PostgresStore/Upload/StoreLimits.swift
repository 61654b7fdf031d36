/// Bounds of what a store keeps of devices; ``ChangelogRetention`` removes what is old.
public enum StoreLimits {
    /// Devices of one user: rows of `tombolo.client`. Another one cannot open a session.
    public static let clientsPerUser = 1_000
    /// Receipts of one client that retention leaves, the newest ones: ten times as many changesets as a device sends
    /// before it has their outcome. Older ones are not told from a copied file's any more.
    public static let receiptsPerClient: Int64 = 10_000
    /// Changesets of one user in `tombolo.set_aside`, and what they take there in bytes. Beyond that they are refused
    /// without being kept.
    public static let setAsidePerUser = (count: 100, byteCount: 64 << 20)
    /// What is kept under one rules fingerprint in `tombolo.readable`, in bytes. Nothing is kept of a user with more:
    /// their devices get their content anew when the rules change.
    static let readableByteCount = 1 << 20
    /// Characters of a refusal's message, and of a key, in a receipt; and of an error's message in `tombolo.set_aside`.
    static let textLength = 1_000
}
