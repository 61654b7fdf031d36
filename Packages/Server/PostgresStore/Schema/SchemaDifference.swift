/// What separates a live database from a ``Schema``.
public struct SchemaDifference: Hashable, Sendable {
    /// Additive steps, in order: new tables, columns, indexes, and functions that follow the columns.
    public let steps: [SchemaStep]
    /// Differences that no additive step removes, such as another column type; each says what to do.
    public let problems: [String]

    public init(steps: [SchemaStep], problems: [String]) {
        self.steps = steps
        self.problems = problems
    }

    public var isEmpty: Bool { steps.isEmpty && problems.isEmpty }
}
