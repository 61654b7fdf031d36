public import Tombolo

extension DatabaseConfigurable {
    public var legacySchemaVersion: UInt64 { 0 }

    /// Does nothing, because adding or removing properties doesn't require a migration.
    public var legacyMigration: MigrationBlock { { _, _ in } }
}
