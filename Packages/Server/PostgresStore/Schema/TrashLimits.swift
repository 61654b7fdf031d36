/// Bounds of the trash.
public enum TrashLimits {
    /// The most objects that one object can take into the trash. With more, the object and all of them stay where
    /// they are.
    public static let takenAlong = 10_000
    /// The constraint that the error for exceeding this limit names, as if the table had such a constraint.
    public static let constraint = "trash_takes_at_most_\(takenAlong)_along"
}
