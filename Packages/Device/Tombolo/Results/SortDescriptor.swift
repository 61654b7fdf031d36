public import TomboloModel

/// A sort key.
public struct SortDescriptor: Hashable, Sendable {
    let path: PropertyPath
    /// Whether the least value comes first.
    public let ascending: Bool

    /// The property names joined by dots.
    public var keyPath: String { path.description }

    public init(keyPath: String, ascending: Bool = true) {
        path = PropertyPath(keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        self.ascending = ascending
    }

    public init<Root: ObjectBase, Property>(keyPath: KeyPath<Root, Property>, ascending: Bool = true) {
        path = PropertyPath(of: keyPath)
        self.ascending = ascending
    }

    private init(_ path: PropertyPath, ascending: Bool) {
        self.path = path
        self.ascending = ascending
    }

    /// The same key in the opposite direction.
    public func reversed() -> SortDescriptor { SortDescriptor(path, ascending: !ascending) }
}

/// Lets strings stand for ascending sort keys: `sorted(by: ["name", "age"])`.
extension SortDescriptor: ExpressibleByStringLiteral {
    public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }
}

extension SortDescriptor: CustomStringConvertible {
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }
}
