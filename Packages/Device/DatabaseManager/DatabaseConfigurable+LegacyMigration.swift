public import Tombolo

extension DatabaseConfigurable {
    public var legacySchemaVersion: UInt64 { 0 }

    /// Does nothing, since added and removed properties don't need a migration.
    public var legacyMigration: MigrationBlock { { _, _ in } }
}
