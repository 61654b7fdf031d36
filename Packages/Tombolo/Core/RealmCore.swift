internal import Foundation
internal import Synchronization
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// What is behind a ``Realm``: one connection, the version that it reads, the rows that the app holds, and the write
/// transaction under way. Confined as its Realm is.
///
/// Between write transactions a read transaction is open, which pins the version; ``refresh()`` replaces it.
final class RealmCore {
    let configuration: Realm.Configuration
    let confinement: Confinement
    let file: StoreFile
    let writer: RowWriter
    /// Deletes the file of an in-memory Realm after its last user.
    private let memoryFile: MemoryFile?
    private let types: [Object.Type]
    /// Taken around every read of a frozen Realm; nil for others, which have one user at a time.
    private let lock: NSRecursiveLock?
    var lastFrozen: FrozenCore?
    private(set) lazy var asyncTransactions = AsyncTransactions(core: self)
    /// By class position.
    let classes: [ManagedClass]
    private let classIndexes: [ObjectIdentifier: Int]

    /// Raised when the content may have changed other than through this Realm's own writes.
    private(set) var version: UInt64 = 1
    /// Raised by every own write, in any class.
    var changeCount: UInt64 = 0
    /// Raised by everything that may change what a query finds.
    var changeStamp: UInt64 { version &+ changeCount }
    /// Loops over results that still read from the file.
    private var cursors: [ObjectIdentifier: WeakCursor] = [:]
    /// By class: the last rowid given, while nobody else wrote since it was read.
    var lastRowIDs: [Int64?]
    /// By class: what the file knows of it.
    var keptRowIDs: [Int64?]
    /// Embedded objects that were replaced here, and when.
    var replacements: [EmbeddedName: UInt64] = [:]
    var replacementCount: UInt64 = 0
    /// Transactions that made objects and were cancelled.
    private(set) var cancelledTransactions: Set<UInt64> = []

    private(set) var transaction: WriteTransaction?
    private var transactionCount: UInt64 = 0
    /// SQLite's counter of other connections' commits: <https://www.sqlite.org/pragma.html#pragma_data_version>.
    private var dataVersion: Int64 = -1
    private var isReading = false
    /// How often everything was invalidated: objects of earlier times cannot be used.
    private(set) var invalidations: UInt64 = 0
    private var observers: [(id: Int, body: (Realm.Notification, Realm) -> Void)] = []
    private var nextObserverID = 0
    private var fileObserver: Int?
    var autorefresh = true
    /// Keeps the file and a gateway in step; nil for a local Realm.
    var syncSession: SyncSession?

    /// For rows that were not read yet; never looked at.
    nonisolated(unsafe) static let noCells = UnsafeMutablePointer<Cell>.allocate(capacity: 1)

    private struct WeakCursor {
        weak var cursor: RowCursor?
    }

    var schema: Schema { file.schema }
    var layout: StoreLayout { file.layout }
    var connection: SQLiteConnection { file.connection }

    init(
        configuration: Realm.Configuration, types: [Object.Type], schema: Schema, path: String,
        memoryFile: MemoryFile?, confinement: Confinement
    ) throws {
        self.configuration = configuration
        self.confinement = confinement
        self.memoryFile = memoryFile
        self.types = types
        if case .frozen = confinement { lock = NSRecursiveLock() } else { lock = nil }
        file = try configuration.openFile(path, schema: schema, types: types, isInMemory: memoryFile != nil)
        writer = RowWriter(file)
        var objectClasses: [ObjectClass?] = Array(repeating: nil, count: schema.classes.count)
        var classIndexes: [ObjectIdentifier: Int] = [:]
        for type in types {
            let objectClass = ObjectClass.of(type)
            guard let index = schema.index(of: objectClass.schema.name) else { continue }
            objectClasses[index] = objectClass
            classIndexes[ObjectIdentifier(type)] = index
        }
        self.classIndexes = classIndexes
        let file = file
        classes = objectClasses.enumerated().map { ManagedClass(index: $0, file: file, objectClass: $1) }
        lastRowIDs = Array(repeating: nil, count: classes.count)
        keptRowIDs = lastRowIDs
        writer.observer = self
        try beginReading()
        if lock == nil { listen() }
    }

    deinit {
        if let fileObserver { file.observers.remove(fileObserver) }
        file.observers.unpin(ObjectIdentifier(self))
        connection.rollback()
    }

    // MARK: Versions

    /// Opens a read transaction on the newest version.
    /// - Returns: whether somebody else changed the file since the version before.
    @discardableResult
    private func beginReading() throws -> Bool {
        try connection.run("BEGIN")
        isReading = true
        // The first read fixes the version.
        _ = try connection.integer("SELECT id FROM tombolo_meta")
        file.observers.pin(ObjectIdentifier(self))
        return try noticeOthers()
    }

    private func noticeOthers() throws -> Bool {
        let current = try connection.integer("PRAGMA data_version") ?? 0
        guard current != dataVersion else { return false }
        dataVersion = current
        noteNewVersion()
        for index in lastRowIDs.indices {
            lastRowIDs[index] = nil
            keptRowIDs[index] = nil
        }
        return true
    }

    private func noteNewVersion() {
        version += 1
        for type in classes { type.noteEverything() }
    }

    private func endReading() {
        guard isReading else { return }
        drainCursors()
        file.observers.unpin(ObjectIdentifier(self))
        isReading = false
        do {
            try connection.run("COMMIT")
        } catch {
            connection.rollback()
        }
    }

    /// Moves to the newest version. No effect inside a write transaction, which is at the newest already.
    func refresh() -> Bool {
        confinement.check()
        guard transaction == nil, !isFrozen else { return false }
        endReading()
        let changed = reading { try beginReading() }
        if changed { notify(.didChange) }
        return changed
    }

    /// Lets go of the version and of every row; the next use begins anew.
    func invalidate() {
        confinement.check()
        if isFrozen { return }
        if transaction != nil { cancel() }
        endReading()
        invalidations += 1
        noteNewVersion()
    }

    /// Runs a query: on the pinned version, with everything written so far.
    func query<Result>(_ body: () throws -> Result) -> Result {
        lock?.lock()
        defer { lock?.unlock() }
        return reading {
            if transaction == nil {
                if !isReading { try beginReading() }
            } else {
                flush()
            }
            return try body()
        }
    }

    /// A read has no way to fail in the API: the medium is broken, or the file was damaged from outside.
    func reading<Result>(_ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            programError("The Realm cannot be read. \(error)")
        }
    }

    // MARK: Frozen Realms

    var isFrozen: Bool { lock != nil }

    /// Runs `body` alone in a frozen Realm.
    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let lock else { return try body() }
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Another core on the newest version, which never leaves it.
    func frozenCopy() throws -> RealmCore {
        try RealmCore(
            configuration: configuration, types: types, schema: schema, path: file.path, memoryFile: memoryFile,
            confinement: .frozen)
    }

    // MARK: Write transactions

    var isInWrite: Bool { transaction != nil }

    func requireWrite() {
        confinement.check()
        if transaction == nil {
            programError("Cannot modify managed objects outside of a write transaction: use realm.write { }.")
        }
    }

    /// - Throws: ``Realm/Error`` when the file stays locked or is read-only; the Realm then stays outside.
    func begin() throws {
        confinement.check()
        try requireMayBegin()
        do {
            try enterTransaction()
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    /// Begins a write transaction unless another writer is in one.
    /// - Returns: whether it began.
    func beginIfFree() throws -> Bool {
        try requireMayBegin()
        connection.setBusyTimeout(seconds: 0)
        defer { connection.setBusyTimeout(seconds: SQLiteConnection.busyTimeoutSeconds) }
        do {
            try enterTransaction()
            return true
        } catch let error as SQLiteStoreError where error.code == .busy {
            return false
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    private func requireMayBegin() throws {
        if isFrozen { programError("Can't perform transactions on a frozen Realm: write to realm.thaw().") }
        if transaction != nil { programError("The Realm is already in a write transaction.") }
        if configuration.readOnly {
            throw Realm.Error(.filePermissionDenied, "'\(file.path)' was opened for reading only.")
        }
    }

    private func enterTransaction() throws {
        endReading()
        let changed: Bool
        do {
            try file.requireInPlace()
            if let limit = configuration.maximumNumberOfActiveVersions { try file.requireActiveVersions(atMost: limit) }
            try connection.run("BEGIN IMMEDIATE")
            changed = try noticeOthers()
        } catch {
            connection.rollback()
            throw error
        }
        startTransaction(failure: nil)
        if changed { notify(.didChange) }
    }

    /// A transaction that could not begin: nothing of it is kept, and committing it throws.
    func beginFailed(_ error: any Error) {
        startTransaction(failure: error)
        transaction?.isBroken = true
    }

    private func startTransaction(failure: (any Error)?) {
        transactionCount += 1
        transaction = WriteTransaction(number: transactionCount)
        transaction?.failure = failure
    }

    func commit() throws {
        confinement.check()
        guard transaction != nil else { programError("Cannot commit: the Realm is not in a write transaction.") }
        flush()
        guard let finished = transaction else { return }
        do {
            if let failure = finished.failure { throw failure }
            if !finished.changeset.isEmpty {
                try ChangesetQueue(file).append(
                    finished.changeset.instructions, wallMicroseconds: Date().microsecondsSince1970)
            }
            try keepRowIDs(finished.deletedFrom)
            drainCursors()
            try connection.run("COMMIT")
        } catch {
            cancel()
            throw Realm.Error(wrapping: error)
        }
        transaction = nil
        _ = reading { try beginReading() }
        notify(.didChange)
        if finished.hasChanges { file.observers.notify(from: ObjectIdentifier(self)) }
    }

    /// Undoes everything. Objects made in the transaction are invalidated; deleted ones stay so for who holds them.
    func cancel() {
        confinement.check()
        guard let cancelled = transaction else {
            programError("Cannot cancel: the Realm is not in a write transaction.")
        }
        writer.discard()
        drainCursors()
        connection.rollback()
        transaction = nil
        isReading = false
        if cancelled.hasMadeObjects { cancelledTransactions.insert(cancelled.number) }
        for index in keptRowIDs.indices { keptRowIDs[index] = nil }
        noteNewVersion()
        _ = reading { try beginReading() }
    }

    /// Notes that the transaction cannot be committed; the first reason counts.
    func fail(_ code: Realm.Error.Code, _ message: String) { fail(Realm.Error(code, message)) }

    private func fail(_ error: any Error) {
        if transaction?.failure == nil { transaction?.failure = error }
    }

    /// Runs a step of the write transaction. After a failure of SQLite nothing is written any more.
    func perform(_ body: () throws -> Void) {
        guard transaction?.isBroken == false else { return }
        if !cursors.isEmpty { drainCursors() }
        do {
            try body()
            transaction?.hasChanges = true
        } catch {
            transaction?.isBroken = true
            fail(error)
        }
    }

    /// Adds to what is uploaded.
    func log(_ instruction: @autoclosure () -> Instruction) {
        if file.isSynced { transaction?.changeset.append(instruction()) }
    }

    func noteDeletion(from classIndex: Int) { transaction?.deletedFrom.insert(classIndex) }
    func noteCreation() { transaction?.hasMadeObjects = true }

    private func flush() {
        guard transaction?.isBroken == false else { return }
        do {
            try writer.flush()
        } catch {
            transaction?.isBroken = true
            fail(error)
        }
    }

    /// - Returns: whether the column takes the value; otherwise the transaction fails.
    func validate(_ value: Value, column: Int, of classIndex: Int) -> Bool {
        do {
            try classes[classIndex].validate(value, column)
            return true
        } catch {
            fail(.invalidInput, "\(schema[classIndex].name): \(error.message)")
            return false
        }
    }

    /// The transaction under way, for rows that it makes.
    var transactionNumber: UInt64 { transaction?.number ?? 0 }

    // MARK: Classes

    func classIndex(of type: Object.Type) -> Int {
        if let index = classIndexes[ObjectIdentifier(type)] { return index }
        programError(
            "Object type '\(type)' is not managed by the Realm: add it to objectTypes of its configuration.")
    }

    func objectClass(_ classIndex: Int) -> ObjectClass {
        guard let objectClass = classes[classIndex].objectClass else {
            programError("\(schema[classIndex].name) has no objects of its own.")
        }
        return objectClass
    }

    func linkTarget(of classIndex: Int, _ column: Int) -> Int? { classes[classIndex].linkTargets[column] }

    // MARK: Cursors

    func open(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = WeakCursor(cursor: cursor) }
    func close(_ cursor: RowCursor) { cursors[ObjectIdentifier(cursor)] = nil }

    /// Before the tables change under them, or their transaction ends.
    private func drainCursors() {
        for entry in cursors.values { entry.cursor?.drain() }
        cursors = [:]
    }

    // MARK: Notifications

    func addObserver(_ body: @escaping (Realm.Notification, Realm) -> Void) -> Int {
        confinement.check()
        if isFrozen {
            programError("Frozen Realms do not change and do not have change notifications: observe realm.thaw().")
        }
        nextObserverID += 1
        observers.append((nextObserverID, body))
        return nextObserverID
    }

    func removeObserver(_ id: Int) { observers.removeAll { $0.id == id } }

    private func notify(_ notification: Realm.Notification) {
        let realm = Realm(core: self)
        for observer in observers where observers.contains(where: { $0.id == observer.id }) {
            observer.body(notification, realm)
        }
    }

    /// Follows what other connections of the process commit.
    private func listen() {
        let reference = RealmCoreReference(self)
        let confinement = confinement
        fileObserver = file.observers.add { origin in
            guard origin != reference.origin, reference.isIdle.exchange(false, ordering: .acquiringAndReleasing) else {
                return
            }
            let isOnItsWay = confinement.schedule {
                reference.isIdle.store(true, ordering: .releasing)
                reference.core?.othersCommitted()
            }
            if !isOnItsWay { reference.isIdle.store(true, ordering: .releasing) }
        }
    }

    private func othersCommitted() {
        guard transaction == nil, isReading else { return }
        if autorefresh { _ = refresh() } else { notify(.refreshRequired) }
    }
}

/// Finds the way back to a Realm from other threads. `core` is read only where the Realm's confinement allows it;
/// `isIdle` keeps a burst of commits from queueing more than one visit.
private final class RealmCoreReference: @unchecked Sendable {
    weak var core: RealmCore?
    let origin: ObjectIdentifier
    let isIdle = Atomic<Bool>(true)

    init(_ core: RealmCore) {
        self.core = core
        origin = ObjectIdentifier(core)
    }
}
