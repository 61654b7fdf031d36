internal import Foundation
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQL

/// Opens a file: checks its format and kind, and updates its tables to the schema.
struct FileOpening {
    private let connection: SQLiteConnection
    private let layout: FileLayout
    private let options: StoreOptions
    /// The app's classes as the file should describe them.
    private let target: StoredSchema

    init(_ connection: SQLiteConnection, _ layout: FileLayout, _ options: StoreOptions) {
        self.connection = connection
        self.layout = layout
        self.options = options
        target = StoredSchema(layout)
    }

    /// - Returns: whether the file is synced, and the cipher of its encrypted properties.
    func run(newClient: ClientID) throws -> (isSynced: Bool, cipher: PropertyCipher?) {
        // Usually everything is in place already, and opening needs no lock.
        try connection.run(.begin)
        do {
            if try isMade() {
                let isSynced = try check()
                let cipher = try FileKey.cipher(connection, key: options.encryptionKey)
                let stored = try storedSchema()
                let version = try storedVersion()
                if isInPlace(stored), options.schemaVersion ?? version == version,
                    try !isSynced || abandonedClasses(stored).isEmpty, cipher != nil || !needsCipher,
                    options.isReadOnly || cipher.map({ $0.form == .current }) ?? true
                {
                    try connection.run(.commit)
                    return (isSynced, needsCipher ? cipher : nil)
                }
            }
            try connection.run(.commit)
        } catch {
            connection.rollback()
            throw error
        }
        guard !options.isReadOnly else { return try readOnly() }
        try renewValues()
        let result = try connection.writeTransaction { try bringUp(newClient) }
        // The log may still contain values that weren't encrypted before a migration.
        if result.cipher != nil { try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        options.migration.onStep?(.committed)
        return result
    }

    private var needsCipher: Bool { target.classes.values.contains { $0.properties.contains(where: \.isEncrypted) } }

    private func isInPlace(_ stored: StoredSchema) -> Bool {
        target.classes.allSatisfy { stored[$0.key] == $0.value }
    }

    // MARK: Read-only files

    private func readOnly() throws -> (isSynced: Bool, cipher: PropertyCipher?) {
        guard try isMade() else { throw notOurs() }
        let isSynced = try check()
        let cipher = try FileKey.cipher(connection, key: options.encryptionKey)
        let stored = try storedSchema()
        let differences = SchemaDifferences(from: stored, to: target)
        let version = try storedVersion()
        if isSynced, !SchemaRenaming(from: stored, to: layout.schema, target).isEmpty {
            throw mismatch(
                differences.sentences,
                "It was opened read-only, but the app has new names for its classes or properties. Open it for writing "
                    + "once.")
        }
        guard differences.isEmpty, options.schemaVersion ?? version == version else {
            throw mismatch(
                differences.sentences,
                "It was opened read-only with schema version \(options.schemaVersion ?? version), but has version "
                    + "\(version). Open it for writing once to migrate it.")
        }
        // A class that the file doesn't have gets an empty temporary table.
        for item in target.sorted where stored[item.name] == nil {
            try connection.execute(
                target.createTable(item).replacing("CREATE TABLE", with: "CREATE TEMP TABLE", maxReplacements: 1))
        }
        return (isSynced, needsCipher ? cipher : nil)
    }

    // MARK: Writing

    /// Converts encrypted values in an old form. This happens before migrating, because the migration's second
    /// connection reads committed values.
    private func renewValues() throws {
        guard options.encryptionKey != nil, try isMade() else { return }
        _ = try check()
        try FileKey.renewValues(connection, key: options.encryptionKey)
    }

    private func bringUp(_ newClient: ClientID) throws -> (isSynced: Bool, cipher: PropertyCipher?) {
        let isNew = try !isMade()
        if isNew {
            try requireEmpty()
            try make(newClient)
        }
        let isSynced = try check()
        var stored = try storedSchema()
        if isSynced {
            options.migration.onStep?(.began)
            stored = try rename(stored)
        }
        let known = try FileKey.cipher(connection, key: options.encryptionKey)
        var cipher = known
        if cipher == nil, needsCipher, let key = options.encryptionKey {
            cipher = try FileKey.make(connection, key: key)
        }
        if isSynced {
            try followClasses(stored)
            if isNew {
                let mark = ReplayMark(connection: connection)
                try mark.prepare()
                try mark.set()
            }
            options.migration.onStep?(.tablesFinished)
        } else {
            try migrate(stored, isNew: isNew, ciphers: (known, cipher))
        }
        try describe(stored)
        if let version = options.schemaVersion, try version != storedVersion() {
            let statement = try connection.statement("UPDATE tombolo_meta SET schema_version = ?")
            statement.bind(Int64(bitPattern: version), at: 1)
            try statement.run()
        }
        return (isSynced, needsCipher ? cipher : nil)
    }

    private func make(_ client: ClientID) throws {
        for statement in FileMeta.tables { try connection.execute(statement) }
        let insert = try connection.statement(FileMeta.insert)
        insert.bind(FileMeta.firstFormat, at: 1)
        insert.bind(options.isSynced ?? true ? 1 : 0 as Int64, at: 2)
        insert.bind(Int64(bitPattern: options.schemaVersion ?? 0), at: 3)
        insert.bind(client.rawValue, at: 4)
        try insert.run()
        if options.isSynced ?? true, case .named(let partition?) = options.partition {
            try FilePartition.write(partition, connection)
        }
    }

    private func describe(_ stored: StoredSchema) throws {
        for item in target.sorted where stored[item.name] != item {
            guard StoredClass(name: item.name, text: item.text) == item else {
                throw SQLiteStoreError(
                    .failure, "Class \(item.name) has a property of a type that device files don't support.")
            }
            let statement = try connection.statement(
                "INSERT INTO tombolo_class (name, description) VALUES (?, ?) "
                    + "ON CONFLICT (name) DO UPDATE SET description = excluded.description")
            statement.bind(.string(item.name), at: 1)
            statement.bind(.string(item.text), at: 2)
            try statement.run()
        }
    }

    /// Migrates a local file, by Realm's rules.
    private func migrate(
        _ stored: StoredSchema, isNew: Bool, ciphers: (PropertyCipher?, PropertyCipher?)
    ) throws {
        let version = try storedVersion()
        let differences = SchemaDifferences(from: stored, to: target)
        let isRaised = !isNew && options.schemaVersion ?? version != version
        if options.refusesMigration, isRaised || !differences.isEmpty {
            throw mismatch(differences.sentences, "It was not migrated.")
        }
        if !differences.isEmpty, !isRaised {
            throw mismatch(
                differences.sentences,
                "Raise schemaVersion above \(version), and add a migrationBlock if values must be converted.")
        }
        if options.migration.block == nil { try requireConvertible(stored, differences) }
        guard !stored.classes.isEmpty else {
            for item in target.sorted { try create(item) }
            return
        }
        // Keeps the unencrypted bytes of newly encrypted values from staying in free pages.
        if ciphers.1 != nil { try connection.execute("PRAGMA secure_delete = ON") }
        try LocalMigration.run(
            connection, from: stored, to: target, version: version, runsBlock: isRaised, plan: options.migration,
            ciphers: (ciphers.0, ciphers.1))
    }

    /// Without a block, values of a changed type would be lost silently.
    private func requireConvertible(_ stored: StoredSchema, _ differences: SchemaDifferences) throws {
        for item in target.sorted {
            guard let old = stored[item.name], !ClassChange(from: old, to: item).retyped.isEmpty,
                try connection.integer("SELECT 1 FROM \(SQLDialect.sqlite.quoted(old.table)) LIMIT 1") != nil
            else { continue }
            throw mismatch(
                differences.sentences,
                "Tombolo can't convert these values by itself: add a migrationBlock that converts them, or set "
                    + "deleteRealmIfMigrationNeeded.")
        }
    }

    private func create(_ item: StoredClass) throws {
        try connection.execute(target.createTable(item))
        for property in item.properties where property.isIndexed {
            try connection.execute(StoredSchema.createIndex(property, of: item))
        }
    }

    // MARK: Synced files

    /// Renames tables and columns to the names that the app uses now.
    /// - Returns: the file's classes.
    private func rename(_ stored: StoredSchema) throws -> StoredSchema {
        let renaming = SchemaRenaming(from: stored, to: layout.schema, target)
        guard !renaming.isEmpty else { return stored }
        // Staged frames and the mark use the old names. The server sends the batch again.
        try connection.run("DELETE FROM tombolo_staged")
        try ReplayMark(connection: connection).clear()
        try renaming.perform(connection)
        try renaming.renameSubscriptions(connection, layout.schema)
        options.migration.onStep?(.tablesPrepared)
        return renaming.result
    }

    /// Updates a synced file's tables to the app's classes, unless values would have to be converted. Removed columns
    /// are dropped.
    private func followClasses(_ stored: StoredSchema) throws {
        let changes = target.sorted.compactMap { item in stored[item.name].map { ClassChange(from: $0, to: item) } }
            .filter { $0.old != $0.new }
        let incompatible = SchemaDifferences.conversions(changes)
        guard incompatible.isEmpty else {
            throw mismatch(
                incompatible,
                "Tombolo can't convert the rows of a synced file by itself: give the property a new name, or delete "
                    + "the file.")
        }
        let added = target.sorted.filter { stored[$0.name] == nil }
        let abandoned = try abandonedClasses(stored)
        if !changes.isEmpty || !added.isEmpty || !abandoned.isEmpty {
            // Frames of an interrupted batch only fit the old columns. The server sends the batch again.
            try connection.run("DELETE FROM tombolo_staged")
            try ReplayMark(connection: connection).clear()
            if !abandoned.isEmpty { try AbandonedClasses(abandoned, in: stored).restore(connection) }
        }
        for item in added {
            try create(item)
            if item.keyIndex != nil { try connection.execute(target.createBeneath(item)) }
        }
        for change in changes { try follow(change) }
    }

    private func follow(_ change: ClassChange) throws {
        let hasBeneath = change.new.keyIndex != nil
        for position in change.unindexed {
            try connection.execute(StoredSchema.dropIndex(change.old.properties[position], of: change.old))
        }
        for position in change.removed {
            for statement in StoredSchema.dropColumn(
                change.old.properties[position].column, of: change.new, hasBeneath: hasBeneath)
            {
                try connection.execute(statement)
            }
        }
        for position in change.added {
            for statement in target.addColumn(
                change.new.properties[position], to: change.new, hasBeneath: hasBeneath)
            {
                try connection.execute(statement)
            }
        }
        for position in change.indexed {
            try connection.execute(StoredSchema.createIndex(change.new.properties[position], of: change.new))
        }
    }

    /// The classes of a synced file that the app no longer has but whose objects are in queued changesets, and so have
    /// server rows beneath. Rows of removed classes without such edits stay, in case the class comes back.
    private func abandonedClasses(_ stored: StoredSchema) throws -> [String] {
        try stored.sorted.filter { item in
            guard target[item.name] == nil, item.keyIndex != nil else { return false }
            return try connection.integer("SELECT 1 FROM \(TableLayout.beneath(item.table)) LIMIT 1") != nil
        }.map(\.name)
    }

    // MARK: File state

    private func isMade() throws -> Bool { try Self.isMade(connection) }

    static func isMade(_ connection: SQLiteConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tombolo_meta'") != nil
    }

    /// Refuses another program's database.
    private func requireEmpty() throws {
        guard try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1") == nil else { throw notOurs() }
    }

    private func notOurs() -> SQLiteStoreError {
        SQLiteStoreError(
            .invalidDatabase,
            "'\(connection.path)' is an SQLite database, but not a Tombolo file. Use another file name.")
    }

    private func storedVersion() throws -> UInt64 { try Self.storedVersion(connection) }

    static func storedVersion(_ connection: SQLiteConnection) throws -> UInt64 {
        UInt64(bitPattern: try connection.integer("SELECT schema_version FROM tombolo_meta") ?? 0)
    }

    /// Checks format, kind and schema version.
    /// - Returns: whether the file is synced.
    private func check() throws -> Bool {
        try Self.checkFormat(connection)
        let isSynced = try connection.integer("SELECT is_synced FROM tombolo_meta") == 1
        if let wanted = options.isSynced, wanted != isSynced {
            throw SQLiteStoreError(
                .incompatibleHistory,
                "'\(connection.path)' is a \(isSynced ? "synced" : "local") file but was opened as a "
                    + "\(wanted ? "synced" : "local") one. Use another file name.")
        }
        if isSynced, case .named(let partition) = options.partition {
            try FilePartition.check(connection, is: partition)
        }
        let stored = try storedVersion()
        if let version = options.schemaVersion, version < stored {
            throw SQLiteStoreError(
                .schemaMismatch,
                "Provided schema version \(version) is less than last set version \(stored). '\(connection.path)' was "
                    + "made by a newer version of the app: update the app, or delete the file.")
        }
        return isSynced
    }

    static func checkFormat(_ connection: SQLiteConnection) throws {
        let format = try storedFormat(connection)
        guard (FileMeta.firstFormat...FileMeta.format).contains(format) else {
            throw SQLiteStoreError(
                .unsupportedFormat,
                "'\(connection.path)' has format \(format); this version of Tombolo reads formats up to "
                    + "\(FileMeta.format). Update the app.")
        }
    }

    static func storedFormat(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.integer("SELECT format FROM tombolo_meta") ?? 0
    }

    /// Records that the file now contains something that older versions of Tombolo can't read. In the caller's
    /// transaction.
    static func raiseFormat(_ connection: SQLiteConnection) throws {
        try connection.run("UPDATE tombolo_meta SET format = \(FileMeta.format)")
    }

    private func storedSchema() throws -> StoredSchema { try Self.storedSchema(connection) }

    static func storedSchema(_ connection: SQLiteConnection) throws -> StoredSchema {
        let statement = try connection.statement("SELECT name, description FROM tombolo_class")
        defer { statement.reset() }
        var stored: [String: StoredClass] = [:]
        while try statement.step() {
            let name = statement.text(at: 0)
            guard let item = StoredClass(name: name, text: statement.text(at: 1)) else {
                throw SQLiteStoreError(
                    .invalidDatabase,
                    "Can't read how '\(connection.path)' describes class \(name). Another version of Tombolo wrote it, "
                        + "or the file is damaged. Update the app, or restore the file from a backup.")
            }
            stored[name] = item
        }
        return StoredSchema(stored)
    }

    private func mismatch(_ sentences: [String], _ advice: String) -> SQLiteStoreError {
        let list = sentences.map { "\n- \($0)" }.joined()
        let reason =
            sentences.isEmpty
            ? "Migration is required." : "Migration is required due to the following errors:\(list)"
        return SQLiteStoreError(.schemaMismatch, "\(reason)\n'\(connection.path)': \(advice)")
    }
}
