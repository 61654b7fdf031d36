/// The difference between a live database and a ``Schema``.
public struct SchemaDifference: Hashable, Sendable {
    /// Additive steps in order: new tables, columns and indexes, and the functions that depend on the columns.
    public let steps: [SchemaStep]
    /// Differences that no additive step can remove, such as a different column type. Each says what to do.
    public let problems: [String]

    public init(steps: [SchemaStep], problems: [String]) {
        self.steps = steps
        self.problems = problems
    }

    public var isEmpty: Bool { steps.isEmpty && problems.isEmpty }
}
