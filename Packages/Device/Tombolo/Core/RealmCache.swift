internal import Foundation
internal import Synchronization
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// The process's open Realms. Opening a Realm twice in one place returns the same one.
enum RealmCache {
    private struct Entry: @unchecked Sendable {
        // Handed out only where the confinement in its key allows it. Everything else only compares the reference.
        weak var core: RealmCore?
        let schema: Schema
    }

    private struct Key: Hashable {
        let place: String
        let path: PathKey
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// The Realm open in this place, or a new one.
    static func core(
        path: String, confinement: Confinement, open: () throws -> RealmCore, matches: (RealmCore) -> Bool
    ) throws -> RealmCore {
        let key = Key(place: confinement.cacheKey ?? UUID().uuidString, path: PathKey(path))
        if let known = entries.withLock({ $0[key] })?.core, matches(known) { return known }
        let core = try open()
        let entry = Entry(core: core, schema: core.schema)
        entries.withLock { entries in
            entries = entries.filter { $0.value.core != nil }
            entries[key] = entry
        }
        return core
    }

    /// Whether a Realm of the file with other classes is open.
    static func isOpen(_ path: String, withOtherClassesThan schema: Schema) -> Bool {
        entries.withLock { entries in
            entries.contains { $0.key.path == PathKey(path) && $0.value.core != nil && $0.value.schema != schema }
        }
    }

    /// Deletes a file and everything that belongs to it, and ends its sync session.
    /// - Parameter isObsolete: called while nobody else in the process can open the file. The file stays if this
    ///   returns false.
    /// - Throws: ``Realm/Error`` with the code `alreadyOpen` if a Realm in the process has the file open.
    static func delete(_ path: String, if isObsolete: () throws -> Bool = { true }) throws {
        try requireUnused(path)
        SyncSession.remove(path: path)?.close()
        // Nobody else can open the file during this.
        try OpenFile.alone(path) {
            try requireUnused(path)
            if try isObsolete() { RealmFiles.delete(at: path) }
        }
    }

    /// - Throws: ``Realm/Error`` with the code `alreadyOpen` if a Realm in the process, even a frozen one, has the file
    ///   open.
    static func requireUnused(_ path: String) throws {
        // The session may keep a Realm for the app after a client reset. The app can also get it from a copy.
        SyncSession.known(path: path)?.letGoOfBefore()
        guard OpenFile.isUsed(path) else { return }
        throw Realm.Error(
            .alreadyOpen,
            "'\(path)' is open: release its Realms and objects, including frozen ones, before deleting it.")
    }
}

extension RealmCore {
    /// - Parameter session: the session, when it opens its own file; nil to find or create one.
    static func open(
        _ configuration: Realm.Configuration, _ confinement: Confinement, of session: SyncSession? = nil
    ) throws -> RealmCore {
        let confinement = confinement.asMain
        do {
            try configuration.requireConsistency()
            let types = try configuration.modelClasses()
            let schema = try Schema.of(types)
            try requireKeys(schema, configuration)
            let (path, memoryFile) = try place(configuration)
            if configuration.isSynced { try requireSameUse(path, schema, configuration.syncConfiguration) }
            let core = try RealmCache.core(path: path, confinement: confinement) {
                try open(configuration, types, schema, path, memoryFile, confinement)
            } matches: { known in
                known.schema == schema
                    && OpenFile.Settings(known.configuration) == OpenFile.Settings(configuration)
            }
            if let session {
                core.syncSession = session
            } else if let sync = configuration.syncConfiguration {
                let session = try SyncSession.session(
                    path: path, schema: schema, configuration: sync, realm: configuration)
                core.syncSession = session
                try subscribe(core, session, sync)
            }
            return core
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    /// Creates the first subscriptions of a new file.
    private static func subscribe(_ core: RealmCore, _ session: SyncSession, _ sync: SyncConfiguration) throws {
        guard let initial = sync.initialSubscriptions else { return }
        let isNew = try session.newestSubscriptions().set.version == 0
        guard session.takeFirstOpening() && initial.rerunOnOpen || isNew else { return }
        let subscriptions = try SyncSubscriptionSet(realm: Realm(core: core), session: session)
        subscriptions.update { initial.callback(subscriptions) }
    }

    private static func open(
        _ configuration: Realm.Configuration, _ types: [Object.Type], _ schema: Schema, _ path: String,
        _ memoryFile: MemoryFile?, _ confinement: Confinement
    ) throws -> RealmCore {
        func make() throws -> RealmCore {
            try RealmCore(
                configuration: configuration, types: types, schema: schema, path: path, memoryFile: memoryFile,
                confinement: confinement)
        }
        var attempts = 0
        while true {
            do {
                return try make()
            } catch {
                guard configuration.deleteRealmIfMigrationNeeded, !configuration.readOnly,
                    Realm.Error(wrapping: error).code == .schemaMismatch, attempts < maximumDeletions
                else { throw error }
            }
            attempts += 1
            // Wait for any caller that is opening the file. It may delete the file too.
            try OpenFile.alone(path) {}
            do {
                // Another thread may have created the file again and closed it.
                try RealmCache.delete(path) {
                    try configuration.isMismatched(path, schema, types, isInMemory: memoryFile != nil)
                }
            } catch let error as Realm.Error where error.code == .alreadyOpen && attempts < maximumDeletions {}
        }
    }

    /// How often to delete a file that others keep opening.
    private static let maximumDeletions = 3

    /// All uses of a synced file in a process must have the same classes and user. If one use lacked a class, edits of
    /// that class would be dropped from the upload queue.
    private static func requireSameUse(_ path: String, _ schema: Schema, _ sync: SyncConfiguration?) throws {
        guard !RealmCache.isOpen(path, withOtherClassesThan: schema) else {
            throw Realm.Error(
                .alreadyOpen,
                "'\(path)' is open with other classes. Open every Realm of a synced file with the same objectTypes.")
        }
        if let sync { try SyncSession.makeWay(path: path, schema: schema, configuration: sync) }
    }

    /// Synced objects are identified by `_id`.
    private static func requireKeys(_ schema: Schema, _ configuration: Realm.Configuration) throws {
        guard configuration.isSynced else { return }
        for item in schema.classes where item.owner == nil && item.primaryKey?.name != "_id" {
            throw Realm.Error(
                .invalidInput,
                "\(item.name) cannot be synced: declare @Persisted(primaryKey: true) var _id, of type ObjectId, UUID, "
                    + "String or Int.")
        }
        let problems = schema.synchronizationProblems
        guard problems.isEmpty else { throw Realm.Error(.invalidInput, problems.joined(separator: "\n")) }
    }

    private static func place(_ configuration: Realm.Configuration) throws -> (String, MemoryFile?) {
        switch configuration.place {
        case .memory(let identifier):
            let file = try MemoryFile(identifier: identifier)
            return (file.path, file)
        case .file(let url):
            let path = RealmFiles.path(of: url)
            if configuration.readOnly, !FileManager.default.fileExists(atPath: path) {
                throw Realm.Error(.fileNotFound, "'\(path)' doesn't exist, so it can't be opened read-only.")
            }
            let folder = url.deletingLastPathComponent().path
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw Realm.Error(.fileAccess, "Can't create the folder '\(folder)': \(error.localizedDescription)")
            }
            // Now that the folder exists, resolve links in the path.
            return (RealmFiles.path(of: url), nil)
        }
    }
}
