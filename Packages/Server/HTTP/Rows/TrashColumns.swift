/// What the store's triggers and functions know of a row in the trash.
public enum TrashColumns {
    /// Since when a row has been in the trash; NULL for live ones.
    public static let when = "trashed_at"
}
