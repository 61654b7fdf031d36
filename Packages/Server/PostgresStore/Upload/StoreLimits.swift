/// Bounds for what a store keeps about devices. ``ChangelogRetention`` removes what is old.
public enum StoreLimits {
    /// The most devices of one user, that is, rows of `tombolo.client`. A further device can't open a session.
    public static let clientsPerUser = 1_000
    /// The most receipts that retention leaves for one client, the newest ones: ten times as many changesets as a
    /// device sends before it has their outcome. Older ones can no longer be told from those of a copied file.
    public static let receiptsPerClient: Int64 = 10_000
    /// The most changesets of one user in `tombolo.set_aside`, and the most bytes that they take up there. Beyond
    /// that, they are refused without being kept.
    public static let setAsidePerUser = (count: 100, byteCount: 64 << 20)
    /// The most bytes kept in `tombolo.readable` under one rules fingerprint. For a user with more, nothing is kept,
    /// and their devices download their content again when the rules change.
    static let readableByteCount = 1 << 20
    /// The most characters of a refusal's message and of a key in a receipt, and of an error's message in
    /// `tombolo.set_aside`.
    static let textLength = 1_000
}
