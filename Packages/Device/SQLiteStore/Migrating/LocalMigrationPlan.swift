package import TomboloModel

/// What an app contributes to the migration of a local file. The tables of a synced file follow the classes, so only
/// ``onStep`` applies to it.
package struct LocalMigrationPlan: Sendable {
    /// The moments of a migration, in order. If the process ends before the last one, nothing of the migration is kept.
    package enum Step: String, Sendable, CaseIterable {
        case began
        case tablesPrepared
        case blockRan
        case tablesFinished
        case committed
    }

    /// The value of a new required property in existing rows. Nil stands for the zero value of its type, or for a
    /// random value if it is an identifier.
    package var initialValue: @Sendable (_ className: String, _ property: String) -> Value?
    /// The app's migration block. The number is the file's previous schema version.
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
