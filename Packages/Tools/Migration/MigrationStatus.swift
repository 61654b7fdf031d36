/// The state of a database.
public struct MigrationStatus: Sendable {
    /// The applied steps in order. Empty for a database that this tool never changed.
    public let applied: [MigrationRecord]
    public let pending: MigrationPlan

    public var isUpToDate: Bool { pending.isEmpty && !applied.isEmpty }
}
