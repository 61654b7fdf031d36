/// Bounds of the trash.
public enum TrashLimits {
    /// Objects that one object takes into the trash with it. With more it stays where it is, and so do they.
    public static let takenAlong = 10_000
    /// What the error of one more has as its constraint, as if it were one of the table's.
    public static let constraint = "trash_takes_at_most_\(takenAlong)_along"
}
