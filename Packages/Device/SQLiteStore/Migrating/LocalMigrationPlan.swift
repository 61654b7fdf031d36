package import TomboloModel

/// What an app brings along for the migration of a local file; for a synced one, whose tables follow the classes, only
/// ``onStep`` counts.
package struct LocalMigrationPlan: Sendable {
    /// Moments in a migration, in order. Nothing of it is kept when the process ends before the last.
    package enum Step: String, Sendable, CaseIterable {
        case began
        case tablesPrepared
        case blockRan
        case tablesFinished
        case committed
    }

    /// The value of a new required property in existing rows, or nil for its type's zero, or a random identifier.
    package var initialValue: @Sendable (_ className: String, _ property: String) -> Value?
    /// The app's own steps. The number is the file's previous schema version.
    package var block: (@Sendable (LocalMigration, UInt64) throws -> Void)?
    /// For tests: called after each step.
    package var onStep: (@Sendable (Step) -> Void)?

    package init(
        initialValue: @escaping @Sendable (String, String) -> Value? = { _, _ in nil },
        block: (@Sendable (LocalMigration, UInt64) throws -> Void)? = nil,
        onStep: (@Sendable (Step) -> Void)? = nil
    ) {
        self.initialValue = initialValue
        self.block = block
        self.onStep = onStep
    }
}
