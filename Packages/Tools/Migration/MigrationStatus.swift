/// Where a database stands.
public struct MigrationStatus: Sendable {
    /// What was applied, in order; empty for a database that this tool never touched.
    public let applied: [MigrationRecord]
    public let pending: MigrationPlan

    public var isUpToDate: Bool { pending.isEmpty && !applied.isEmpty }
}
