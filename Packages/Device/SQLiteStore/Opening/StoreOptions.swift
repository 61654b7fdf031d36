package import Foundation

/// How a device file is opened.
package struct StoreOptions: Sendable {
    /// Whether local writes are queued for upload. This is fixed when the file is created. Nil opens either kind.
    package var isSynced: Bool?
    /// The partition that a synced file belongs to. This is fixed when the file is created.
    package var partition: Partition
    /// The app's schema version; nil if unknown, as for the sync engine.
    package var schemaVersion: UInt64?
    package var isReadOnly: Bool
    package var durability: SQLiteConnection.Durability
    /// The key for encrypted properties: ``PropertyCipher/keyByteCount`` bytes.
    package var encryptionKey: Data?
    /// How to migrate a local file.
    package var migration: LocalMigrationPlan
    /// Whether to refuse a file that would have to be migrated or that has another schema version, instead of migrating
    /// it.
    package var refusesMigration: Bool
    /// Decides whether to compact the file, given its size and its used part in bytes.
    package var shouldCompact: (@Sendable (Int, Int) -> Bool)?

    package enum Partition: Hashable, Sendable {
        /// Any partition or none. A new file has subscriptions.
        case any
        /// The partition with this name. Nil means a file with subscriptions.
        case named(String?)
    }

    package init(
        isSynced: Bool?, partition: Partition = .any, schemaVersion: UInt64? = nil, isReadOnly: Bool = false,
        durability: SQLiteConnection.Durability, encryptionKey: Data? = nil,
        migration: LocalMigrationPlan = LocalMigrationPlan(),
        refusesMigration: Bool = false, shouldCompact: (@Sendable (Int, Int) -> Bool)? = nil
    ) {
        self.isSynced = isSynced
        self.partition = partition
        self.schemaVersion = schemaVersion
        self.isReadOnly = isReadOnly
        self.durability = durability
        self.encryptionKey = encryptionKey
        self.migration = migration
        self.refusesMigration = refusesMigration
        self.shouldCompact = shouldCompact
    }
}
