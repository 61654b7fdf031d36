/// The columns that every table of a trashable class has besides its properties.
public enum TrashColumns {
    public static let when = "trashed_at"
    public static let who = "trashed_by"
    public static let group = "trash_group"
}
