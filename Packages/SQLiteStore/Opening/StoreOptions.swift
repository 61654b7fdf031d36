/// How a device file is opened.
package struct StoreOptions: Hashable, Sendable {
    /// Whether local writes are queued for upload. Decided when the file is made; nil opens either.
    package var isSynced: Bool?
    /// The app's schema version; nil where the opener does not know it, as the sync engine.
    package var schemaVersion: UInt64?
    package var isReadOnly: Bool
    package var durability: SQLiteConnection.Durability

    package init(
        isSynced: Bool?, schemaVersion: UInt64? = nil, isReadOnly: Bool = false,
        durability: SQLiteConnection.Durability
    ) {
        self.isSynced = isSynced
        self.schemaVersion = schemaVersion
        self.isReadOnly = isReadOnly
        self.durability = durability
    }
}
