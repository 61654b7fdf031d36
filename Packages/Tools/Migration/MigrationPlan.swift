public import TomboloPostgresStore

/// What separates a database from what the models ask for.
public struct MigrationPlan: Hashable, Sendable {
    /// Additive steps, in order: none loses data.
    public let steps: [SchemaStep]
    /// Differences that no additive step removes; each says what to do. With any of them nothing is applied.
    public let problems: [String]
    /// What this user can't do and another one should, with the commands. The rest is applied all the same.
    public let advice: [String]
    /// What the steps do with changes that were made in an admin server, for people to read.
    public let notes: [String]
    let documents: PlannedDocuments

    public var isEmpty: Bool { steps.isEmpty && problems.isEmpty }

    /// Steps in runs that share a transaction; a step that cannot be in one is alone.
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
