public import TomboloModel

/// One key of an ORDER BY.
public struct SQLSort: Hashable, Sendable {
    /// The property to sort by, possibly through links.
    public let path: PropertyPath
    /// Whether the least value comes first. Nil counts as the least.
    public let isAscending: Bool

    public init(_ path: PropertyPath, ascending: Bool = true) {
        self.path = path
        self.isAscending = ascending
    }
}
