package import TomboloChangesets
package import TomboloModel

/// An open device file: one connection, whose tables are those of the schema.
///
/// The file holds a table for each class, with real columns, and the store's own tables:
/// - `tombolo_meta`: one row, see ``FileMeta``;
/// - `tombolo_class`: what the file knows about each class, to notice changes of the app's classes;
/// - `tombolo_subscriptions`: the sets that the app wanted, by version, back to the active one;
/// - `tombolo_pending`: the upload queue, a row for each changeset;
/// - `tombolo_beneath_<table>`: the server's row, or its absence, under every object that a queued changeset touches;
/// - `tombolo_staged`: frames of an unfinished batch;
/// - `tombolo_commit`: what the last commits changed, see ``ChangeLog``.
package final class StoreFile {
    package let connection: SQLiteConnection
    package let layout: StoreLayout
    package let isSynced: Bool
    package let observers: FileObservers
    package let recorder: ChangeRecorder
    package let log: ChangeLog
    /// The next entry of the log must say that everything may have changed.
    var outsideWriterIsUnlogged = false

    package var schema: Schema { layout.schema }
    package var path: String { connection.path }

    /// Opens the file, makes it where there is none, and brings its tables up to the schema.
    /// - Parameter newClient: the client id of a file that is made now.
    /// - Throws: ``SQLiteStoreError``; `schemaMismatch` lists every difference.
    package init(path: String, schema: Schema, options: StoreOptions, newClient: ClientID) throws {
        for item in schema.classes where item.table.hasPrefix(TableLayout.reservedPrefix) {
            throw SQLiteStoreError(
                .schemaMismatch,
                "The table name '\(item.table)' of class \(item.name) begins with '\(TableLayout.reservedPrefix)', "
                    + "which is reserved. Give the class another name or override tableName().")
        }
        layout = StoreLayout(schema)
        connection = try SQLiteConnection(path: path, readOnly: options.isReadOnly, durability: options.durability)
        observers = FileObservers.shared(for: path)
        isSynced = try Self.prepare(connection, layout, options, newClient)
        recorder = ChangeRecorder(connection, schema)
        log = try ChangeLog(connection, schema)
    }

    private static func prepare(
        _ connection: SQLiteConnection, _ layout: StoreLayout, _ options: StoreOptions, _ newClient: ClientID
    ) throws -> Bool {
        // Most openings find everything in place and need no lock.
        try connection.run("BEGIN")
        do {
            if try isMade(connection) {
                let isSynced = try check(connection, options)
                let stored = try storedVersion(connection)
                if try changes(connection, layout).isEmpty, options.schemaVersion ?? stored == stored,
                    try !isSynced || abandonedClasses(connection, layout).isEmpty
                {
                    try connection.run("COMMIT")
                    return isSynced
                }
            }
            try connection.run("COMMIT")
        } catch {
            connection.rollback()
            throw error
        }
        guard !options.isReadOnly else {
            return try prepareReadOnly(connection, layout, options)
        }
        return try connection.writeTransaction {
            if try !isMade(connection) {
                try make(connection, isSynced: options.isSynced ?? true, options.schemaVersion ?? 0, newClient)
            }
            let isSynced = try check(connection, options)
            try migrate(connection, layout, isSynced: isSynced, to: options.schemaVersion)
            return isSynced
        }
    }

    private static func prepareReadOnly(
        _ connection: SQLiteConnection, _ layout: StoreLayout, _ options: StoreOptions
    ) throws -> Bool {
        guard try isMade(connection) else {
            throw SQLiteStoreError(.invalidDatabase, "'\(connection.path)' is no Tombolo file.")
        }
        let isSynced = try check(connection, options)
        let sentences = try changes(connection, layout).flatMap { $0.1.map { $0.differences + $0.incompatible } ?? [] }
        if !sentences.isEmpty { throw mismatch(connection.path, sentences, "Open it for writing to migrate it.") }
        return isSynced
    }

    private static func isMade(_ connection: SQLiteConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tombolo_meta'") != nil
    }

    private static func storedVersion(_ connection: SQLiteConnection) throws -> UInt64 {
        UInt64(bitPattern: try connection.integer("SELECT schema_version FROM tombolo_meta") ?? 0)
    }

    /// Format, kind and schema version.
    private static func check(_ connection: SQLiteConnection, _ options: StoreOptions) throws -> Bool {
        let format = try connection.integer("SELECT format FROM tombolo_meta") ?? 0
        guard format == FileMeta.format else {
            throw SQLiteStoreError(
                .unsupportedFormat,
                "'\(connection.path)' has format \(format); this version of Tombolo reads format \(FileMeta.format). "
                    + "Update the app.")
        }
        let isSynced = try connection.integer("SELECT is_synced FROM tombolo_meta") == 1
        if let wanted = options.isSynced, wanted != isSynced {
            throw SQLiteStoreError(
                .incompatibleHistory,
                "'\(connection.path)' is a \(isSynced ? "synced" : "local") file and was opened as a "
                    + "\(wanted ? "synced" : "local") one. Use another file name.")
        }
        let stored = try storedVersion(connection)
        if let version = options.schemaVersion, version < stored {
            throw SQLiteStoreError(
                .schemaMismatch,
                "Provided schema version \(version) is less than last set version \(stored) of '\(connection.path)'.")
        }
        return isSynced
    }

    private static func make(
        _ connection: SQLiteConnection, isSynced: Bool, _ schemaVersion: UInt64, _ client: ClientID
    ) throws {
        for statement in FileMeta.tables { try connection.execute(statement) }
        let insert = try connection.statement(FileMeta.insert)
        insert.bind(FileMeta.format, at: 1)
        insert.bind(isSynced ? 1 : 0 as Int64, at: 2)
        insert.bind(Int64(bitPattern: schemaVersion), at: 3)
        insert.bind(client.rawValue, at: 4)
        try insert.run()
    }

    /// What differs, by class; nil for a class that the file does not have.
    private static func changes(
        _ connection: SQLiteConnection, _ layout: StoreLayout
    ) throws -> [(TableLayout, SchemaChange?)] {
        let stored = try storedClasses(connection)
        return layout.tables.compactMap { table in
            guard let old = stored[table.schema.name] else { return (table, nil) }
            return old == StoredClass(table) ? nil : (table, SchemaChange(from: old, to: table))
        }
    }

    /// The classes of a synced file that the app no longer has, and whose objects queued changesets touch: the server's
    /// rows are kept beneath them. The rows of classes without such edits stay as they are, should the class come back.
    private static func abandonedClasses(
        _ connection: SQLiteConnection, _ layout: StoreLayout
    ) throws -> [String] {
        try storedClasses(connection).filter { name, item in
            guard layout.schema.index(of: name) == nil, item.properties.contains(where: \.isPrimaryKey) else {
                return false
            }
            return try connection.integer("SELECT 1 FROM \(TableLayout.beneath(item.table)) LIMIT 1") != nil
        }.keys.sorted()
    }

    private static func storedClasses(_ connection: SQLiteConnection) throws -> [String: StoredClass] {
        let statement = try connection.statement("SELECT name, description FROM tombolo_class")
        defer { statement.reset() }
        var stored: [String: StoredClass] = [:]
        while try statement.step() {
            let name = statement.text(at: 0)
            guard let item = StoredClass(text: statement.text(at: 1)) else {
                throw SQLiteStoreError(
                    .invalidDatabase,
                    "'\(connection.path)' describes class \(name) in a way that is not understood.")
            }
            stored[name] = item
        }
        return stored
    }

    private static func migrate(
        _ connection: SQLiteConnection, _ layout: StoreLayout, isSynced: Bool, to version: UInt64?
    ) throws {
        let changes = try changes(connection, layout)
        let incompatible = changes.flatMap { $0.1?.incompatible ?? [] }
        guard incompatible.isEmpty else {
            throw mismatch(
                connection.path, incompatible,
                "Tombolo cannot convert the rows by itself: give the property a new name, or delete the file.")
        }
        let stored = try storedVersion(connection)
        let differences = changes.flatMap { $0.1?.differences ?? [] }
        if !isSynced, let version, version == stored, !differences.isEmpty {
            throw mismatch(connection.path, differences, "Raise the schema version above \(stored).")
        }
        let abandoned = isSynced ? try abandonedClasses(connection, layout) : []
        if isSynced, !changes.isEmpty || !abandoned.isEmpty {
            // Frames of an interrupted batch were made for the old columns; the server sends the batch again.
            try connection.run("DELETE FROM tombolo_staged")
            if !abandoned.isEmpty || changes.contains(where: { $0.1?.removed.isEmpty == false }) {
                try QueueMigration(from: storedClasses(connection), to: layout.schema, abandoned: abandoned)
                    .run(connection)
            }
        }
        for (table, change) in changes {
            try apply(change, table, layout, connection)
            let statement = try connection.statement(
                "INSERT INTO tombolo_class (name, description) VALUES (?, ?) "
                    + "ON CONFLICT (name) DO UPDATE SET description = excluded.description")
            statement.bind(.string(table.schema.name), at: 1)
            statement.bind(.string(StoredClass(table).text), at: 2)
            try statement.run()
        }
        if let version, version != stored {
            let statement = try connection.statement("UPDATE tombolo_meta SET schema_version = ?")
            statement.bind(Int64(bitPattern: version), at: 1)
            try statement.run()
        }
    }

    private static func apply(
        _ change: SchemaChange?, _ table: TableLayout, _ layout: StoreLayout, _ connection: SQLiteConnection
    ) throws {
        guard let change else {
            try connection.execute(table.createTable(in: layout.schema))
            if table.schema.primaryKeyIndex != nil { try connection.execute(table.createBeneath(in: layout.schema)) }
            for column in table.schema.columns where table.isIndexed(column) {
                try connection.execute(table.createIndex(column))
            }
            return
        }
        for property in change.unindexed { try connection.execute(table.dropIndex(property)) }
        let hasBeneath = table.schema.primaryKeyIndex != nil
        for property in change.removed {
            for statement in table.dropColumn(property).prefix(hasBeneath ? 2 : 1) { try connection.execute(statement) }
        }
        for column in change.added {
            for statement in table.addColumn(column).prefix(hasBeneath ? 2 : 1) { try connection.execute(statement) }
        }
        for column in change.indexed { try connection.execute(table.createIndex(column)) }
    }

    private static func mismatch(_ path: String, _ sentences: [String], _ advice: String) -> SQLiteStoreError {
        SQLiteStoreError(
            .schemaMismatch,
            "'\(path)' was made for other classes:\n" + sentences.map { "- \($0)\n" }.joined() + advice)
    }
}
