/// The columns with what the store's triggers and functions record about a row in the trash.
public enum TrashColumns {
    /// When the row was moved to the trash; NULL for live rows.
    public static let when = "trashed_at"
}
