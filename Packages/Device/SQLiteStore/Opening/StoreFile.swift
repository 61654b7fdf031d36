package import TomboloChangesets
package import TomboloModel

/// An open device file: one connection, whose tables match the schema.
///
/// The file holds a table for each class, with real columns, and the store's own tables:
/// - `tombolo_meta`: one row, see ``FileMeta``;
/// - `tombolo_class`: a description of each class, to detect changes of the app's classes;
/// - `tombolo_key`: in files with encrypted properties, detects a wrong key, see ``FileKey``;
/// - `tombolo_partition`: in files of a partition, its name;
/// - `tombolo_subscriptions`: the sets that the app wanted, by version, back to the active one;
/// - `tombolo_subscription_notes`: when the app made them, and which ones the server refused, see
///   ``SubscriptionTable``;
/// - `tombolo_pending`: the upload queue, one row per changeset;
/// - `tombolo_beneath_<table>`: in synced files, the server's row, or its absence, beneath every object that a queued
///   changeset touches;
/// - `tombolo_staged`: frames of an unfinished batch;
/// - `tombolo_refusals`: refused writes that the app hasn't been told of, see ``RefusalTable``;
/// - `tombolo_reset`: the progress of a client reset, see ``ResetTable``;
/// - `tombolo_replayed`: whether the rows reflect the whole upload queue, see ``ReplayMark``;
/// - `tombolo_rowid`: the last rowids of classes without a primary key, see ``RowIDCounter``;
/// - `tombolo_commit`: the changes of the last commits, see ``ChangeLog``.
package final class StoreFile {
    package let connection: SQLiteConnection
    package let layout: FileLayout
    package let isSynced: Bool
    package let observers: FileObservers
    package let recorder: ChangeRecorder
    package let log: ChangeLog
    /// The cipher for encrypted properties, or nil if there are none.
    package let cipher: PropertyCipher?
    /// An object to retain for as long as the file is open.
    package var use: (any Sendable & AnyObject)?

    /// Identifies the file that was opened.
    private let identity: FileIdentity?

    package var schema: Schema { layout.schema }
    package var path: String { connection.path }

    /// Opens the file, creating it if needed, and updates its tables to the schema. A local file is migrated by
    /// `options.migration`. A synced file's tables follow the app's classes automatically, unless values would be lost.
    /// - Parameter newClient: the client ID for a newly created file.
    /// - Throws: ``SQLiteStoreError``; `schemaMismatch` lists every difference. The file is then unchanged.
    package init(path: String, schema: Schema, options: StoreOptions, newClient: ClientID) throws {
        for item in schema.classes where item.table.hasPrefix(TableLayout.reservedPrefix) {
            throw SQLiteStoreError(
                .schemaMismatch,
                "The table name '\(item.table)' of class \(item.name) begins with '\(TableLayout.reservedPrefix)', "
                    + "which is reserved. Give the class another name or override tableName().")
        }
        try EncryptedProperties.check(schema, options)
        layout = FileLayout(schema)
        connection = try SQLiteConnection(path: path, readOnly: options.isReadOnly, durability: options.durability)
        observers = FileObservers.shared(for: path)
        (isSynced, cipher) = try FileOpening(connection, layout, options).run(newClient: newClient)
        identity = FileIdentity(path)
        if let shouldCompact = options.shouldCompact { Compaction.run(connection, where: shouldCompact) }
        recorder = ChangeRecorder(connection, schema)
        log = try ChangeLog(connection, schema)
    }

    /// Call this before writing.
    /// - Throws: ``SQLiteStoreError`` with the code `fileNotFound` if the file is no longer at its path.
    package func requireInPlace() throws {
        guard FileIdentity(path) == identity else {
            throw SQLiteStoreError(
                .fileNotFound,
                "'\(path)' was deleted, moved or replaced while it was open, so new writes would be lost. Release its "
                    + "Realms and objects, and open it again.")
        }
    }

    /// - Throws: ``SQLiteStoreError`` if a Realm in the process reads such an old version that more versions are
    ///   active.
    package func requireActiveVersions(atMost limit: UInt) throws {
        let count = observers.activeVersionCount
        guard count > limit else { return }
        throw SQLiteStoreError(
            .failure,
            "Number of active versions (\(count)) in the Realm exceeded the limit of \(limit). Realms on other threads "
                + "read old versions of '\(path)': refresh or release them.")
    }
}
