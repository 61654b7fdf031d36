public import TomboloModel

/// One key of an ORDER BY.
public struct SQLSort: Hashable, Sendable {
    public let path: PropertyPath
    public let isAscending: Bool

    public init(_ path: PropertyPath, ascending: Bool = true) {
        self.path = path
        self.isAscending = ascending
    }
}
