public import Tombolo

extension DatabaseConfigurable {
    public var legacySchemaVersion: UInt64 { 0 }

    /// Does nothing: added and removed properties need no migration.
    public var legacyMigration: MigrationBlock { { _, _ in } }
}
