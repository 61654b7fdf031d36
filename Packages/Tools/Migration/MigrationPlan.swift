public import TomboloPostgresStore

/// The difference between a database and what the models need.
public struct MigrationPlan: Hashable, Sendable {
    /// Additive steps in order. None of them loses data.
    public let steps: [SchemaStep]
    /// Differences that no additive step can remove. Each says what to do. If there are any, nothing is applied.
    public let problems: [String]
    /// What another user has to do because this one can't, with the commands. Everything else is applied anyway.
    public let advice: [String]
    /// What the steps do with changes that were made in an admin server, for people to read.
    public let notes: [String]
    let documents: PlannedDocuments

    public var isEmpty: Bool { steps.isEmpty && problems.isEmpty }

    /// The steps grouped by transaction. A step that can't run in a transaction is on its own.
    var transactions: [[SchemaStep]] {
        var result: [[SchemaStep]] = []
        for step in steps {
            if step.isTransactional, let last = result.last, last[0].isTransactional {
                result[result.count - 1].append(step)
            } else {
                result.append([step])
            }
        }
        return result
    }
}
