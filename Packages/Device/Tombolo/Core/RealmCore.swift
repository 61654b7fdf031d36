internal import Foundation
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncClient

/// The implementation of a ``Realm``: a connection, the version it reads, the rows that the app holds, and the current
/// write transaction. Confined like its Realm.
///
/// Between write transactions, an open read transaction pins the version; ``refresh()`` replaces that transaction.
final class RealmCore {
    let configuration: Realm.Configuration
    let confinement: Confinement
    let file: StoreFile
    let writer: RowWriter
    /// Deletes the file of an in-memory Realm once its last user is gone.
    private let memoryFile: MemoryFile?
    private let types: [Object.Type]
    /// Held around every read of a frozen Realm. Nil for other Realms, which are used in one place at a time.
    private let lock: NSRecursiveLock?
    var lastFrozen: FrozenCore?
    private(set) lazy var asyncTransactions = AsyncTransactions(core: self)
    /// By class position.
    let classes: [ManagedClass]
    private let classIndexes: [ObjectIdentifier: Int]

    /// Incremented when the content may have changed for reasons other than this Realm's own writes.
    private(set) var version: UInt64 = 1
    /// Incremented by every own write, in any class.
    var changeCount: UInt64 = 0
    /// Changes whenever a query's results may have changed.
    var changeStamp: UInt64 { version &+ changeCount }
    let cursors = OpenCursors()
    /// For each class, the last rowid assigned, unless others have written since it was read.
    var lastRowIDs: [Int64?]
    /// For each class, the last rowid stored in the file.
    var keptRowIDs: [Int64?]
    /// Embedded objects that were replaced here, with ``replacementCount`` at that time.
    var replacements: [EmbeddedName: UInt64] = [:]
    var replacementCount: UInt64 = 0
    /// The last rowid assigned to an object of a transaction that couldn't begin. Such objects never reach the file.
    var unwrittenRowID: Int64 = 0
    /// The class of the last added object, because the next object usually has the same class.
    var recentlyAdded: ManagedClass?
    /// Cancelled transactions that created objects.
    private(set) var cancelledTransactions: Set<UInt64> = []

    private(set) var transaction: WriteTransaction?
    private var transactionCount: UInt64 = 0
    private(set) var isReading = false
    /// How often everything was invalidated. Objects from before an invalidation can't be used.
    private(set) var invalidations: UInt64 = 0
    /// Notifies the app of changes.
    private(set) lazy var notifier = Notifier(self)
    private(set) lazy var links = LinkGraph(layout)
    private var fileObserver: Int?
    /// Commits by others that were already reported while autorefresh is off.
    var commitNews = CommitNews()
    var autorefresh = true
    /// Synchronises the file with a gateway. Nil for a local Realm.
    var syncSession: SyncSession?

    /// Stands for the cells of rows that haven't been read. Never dereferenced.
    nonisolated(unsafe) static let noCells = UnsafeMutablePointer<Cell>.allocate(capacity: 1)

    var schema: Schema { file.schema }
    var layout: FileLayout { file.layout }
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
        if lock == nil { fileObserver = observeFile(watchingProcesses: memoryFile == nil) }
    }

    deinit {
        if transaction != nil {
            let warning =
                "WARNING: The last reference to the Realm at '\(file.path)' was released in a write transaction, which "
                + "is now undone. Keep the Realm until commitWrite() or cancelWrite().\n"
            try? FileHandle.standardError.write(contentsOf: Data(warning.utf8))
        }
        if let fileObserver { file.observers.remove(fileObserver) }
        file.observers.unpin(ObjectIdentifier(self))
        connection.rollback()
    }

    // MARK: Versions

    /// Opens a read transaction on the newest version.
    /// - Returns: changes by others since the previous version.
    @discardableResult
    private func beginReading() throws -> PendingChanges? {
        isReading = true
        // Pin before the version is fixed, so that too many versions are pinned rather than too few.
        file.observers.pin(ObjectIdentifier(self))
        return notice(try file.beginReading())
    }

    private func notice(_ advance: ChangeLog.Advance) -> PendingChanges? {
        let changes: ChangeSet?
        switch advance {
        case .nothing: return nil
        case .changes(let set) where set.isEmpty: return nil
        case .changes(let set): changes = set
        case .unknown: changes = nil
        }
        noteNewVersion()
        for (index, change) in changes?.classes ?? [:] where classes[index].remembersDeletions {
            classes[index].deletions.note(change.deleted, stamp: classes[index].stamp)
        }
        for index in lastRowIDs.indices {
            lastRowIDs[index] = nil
            keptRowIDs[index] = nil
        }
        return PendingChanges(changes: changes, isOwn: false)
    }

    private func noteNewVersion() {
        version += 1
        for type in classes { type.noteEverything() }
    }

    private func endReading() {
        guard isReading else { return }
        cursors.drain()
        file.observers.unpin(ObjectIdentifier(self))
        isReading = false
        do {
            try connection.run(.commit)
        } catch {
            connection.rollback()
        }
    }

    /// Moves to the newest version. Has no effect in a write transaction, which always shows the newest version.
    func refresh() -> Bool {
        confinement.check()
        guard transaction == nil, !isFrozen else { return false }
        endReading()
        let changes = reading { try beginReading() }
        if let changes {
            notifier.moved(changes)
            notifier.announce(.didChange)
        }
        notifier.deliver()
        return changes != nil
    }

    /// Releases the version and every row. The next use starts over.
    func invalidate() {
        confinement.check()
        if isFrozen { return }
        if transaction != nil { cancel() }
        endReading()
        invalidations += 1
        noteNewVersion()
    }

    /// Runs a query on the pinned version, including everything written so far.
    func query<Result>(_ body: () throws -> Result) -> Result {
        lock?.lock()
        defer { lock?.unlock() }
        return reading {
            if transaction == nil {
                if !isReading { resumeReading(try beginReading()) }
            } else {
                flush()
            }
            return try body()
        }
    }

    /// Continues after reading was restarted, and notifies listeners of changes by others.
    private func resumeReading(_ changes: PendingChanges?) {
        guard let changes else { return }
        notifier.moved(changes)
        notifier.schedule()
    }

    /// In Realm's API a read can't throw. It only fails if the storage is broken or the file was damaged from outside.
    func reading<Result>(_ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            programError("The Realm cannot be read. \(error)")
        }
    }

    // MARK: Frozen Realms

    var isFrozen: Bool { lock != nil }

    /// In a frozen Realm, runs `body` under the lock.
    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let lock else { return try body() }
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Creates another core that permanently stays at the newest version.
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

    /// - Throws: ``Realm/Error`` if the file stays locked or is read-only. Then no transaction begins.
    func begin() throws {
        confinement.check()
        try requireMayBegin()
        do {
            try enterTransaction(waits: true)
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    /// Begins a write transaction unless another writer has one.
    /// - Returns: whether the transaction began.
    func beginIfFree() throws -> Bool {
        try requireMayBegin()
        do {
            try enterTransaction(waits: false)
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
            throw Realm.Error(.filePermissionDenied, "'\(file.path)' was opened read-only.")
        }
    }

    private func enterTransaction(waits: Bool) throws {
        var changes = try lockForWriting(waits: waits)
        // Tell listeners what others wrote while the listeners can still write themselves.
        var attempts = 0
        while changes != nil, notifier.isNeeded, attempts < Self.maximumBeginAttempts {
            attempts += 1
            connection.rollback()
            var heard = changes
            if let more = reading({ try beginReading() }) { heard?.merge(more) }
            if let heard { notifier.moved(heard) }
            notifier.announce(.didChange)
            notifier.deliver()
            if transaction != nil {
                programError("A notification block has left a write transaction open: commit or cancel it there.")
            }
            changes = try lockForWriting(waits: waits)
        }
        startTransaction(failure: nil)
        if let changes {
            notifier.moved(changes)
            notifier.announce(.didChange)
            notifier.deliver(duringWrite: true)
        }
    }

    /// How often others may write while a transaction begins. After that, listeners are notified within the
    /// transaction.
    private static let maximumBeginAttempts = 3

    /// Begins SQLite's transaction.
    /// - Returns: changes by others since the Realm's version.
    private func lockForWriting(waits: Bool) throws -> PendingChanges? {
        do {
            try file.requireInPlace()
            if try continueWriting() { return nil }
            endReading()
            if let limit = configuration.maximumNumberOfActiveVersions { try file.requireActiveVersions(atMost: limit) }
            if !waits { connection.setBusyTimeout(seconds: 0) }
            defer { if !waits { connection.setBusyTimeout(seconds: SQLiteConnection.busyTimeoutSeconds) } }
            return notice(try file.beginWriting())
        } catch {
            endReading()
            connection.rollback()
            throw error
        }
    }

    /// Continues from the current read version, if that's the newest one and nobody else is writing.
    private func continueWriting() throws -> Bool {
        // The active versions can only be counted while this Realm doesn't read one.
        guard isReading, configuration.maximumNumberOfActiveVersions == nil, try file.continueWriting() else {
            return false
        }
        file.observers.unpin(ObjectIdentifier(self))
        isReading = false
        return true
    }

    /// Marks a transaction that couldn't begin: nothing in it is stored, and committing it throws.
    func beginFailed(_ error: any Error) {
        startTransaction(failure: error)
        transaction?.isBroken = true
    }

    private func startTransaction(failure: (any Error)?) {
        transactionCount += 1
        transaction = WriteTransaction(number: transactionCount)
        if file.isSynced { transaction?.changeset = InstructionLog(schema: schema) }
        transaction?.failure = failure
    }

    /// Runs `block` in the current write transaction. Then commits, or undoes the transaction if the block throws. Does
    /// nothing more if the block ended the transaction itself.
    func finishing<Result>(_ block: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try block()
        } catch {
            if isInWrite { cancel() }
            throw error
        }
        if isInWrite { try commit() }
        return result
    }

    /// - Parameter skipped: listeners that aren't notified.
    func commit(skipping skipped: [ObservationState] = []) throws {
        confinement.check()
        guard transaction != nil else { programError("Cannot commit: the Realm is not in a write transaction.") }
        flush()
        let changeset = transaction?.changeset?.finish()
        transaction?.changeset = nil
        guard let finished = transaction else { return }
        let written: ChangeSet
        var trace: WriteTrace?
        var number: Int64?
        do {
            if let failure = finished.failure { throw failure }
            try writer.keepAbsences()
            try writer.requireRowSizes()
            if let changeset {
                trace = WriteTrace.begin()
                number = try ChangesetQueue(file).append(changeset, wallMicroseconds: Date().microsecondsSince1970)
                if let number { trace?.note(file: file.path, number: number) }
            }
            try keepRowIDs(finished.deletedFrom)
            cursors.drain()
            written = try file.commitWriting()
            trace?.end()
        } catch {
            trace?.cancel(file: file.path, number: number)
            cancel()
            throw Realm.Error(wrapping: error)
        }
        for index in finished.deletedFrom where classes[index].remembersDeletions {
            classes[index].deletions.commit(written[index].deleted)
        }
        transaction = nil
        var changes = PendingChanges(changes: written, isOwn: true)
        let others = reading { try beginReading() }
        // With additional changes by others, no listener can be skipped.
        let spared = others == nil ? skipped : []
        if let others { changes.merge(others) }
        notifier.moved(changes, skipping: spared)
        notifier.announce(.didChange, skipping: spared)
        notifier.schedule()
        if finished.hasChanges { file.observers.notify(from: ObjectIdentifier(self)) }
    }

    /// Undoes everything. Objects created in the transaction become invalid; instances of deleted objects stay invalid.
    func cancel() {
        confinement.check()
        guard let cancelled = transaction else {
            programError("Cannot cancel: the Realm is not in a write transaction.")
        }
        writer.discard()
        cursors.drain()
        let undone = cancelled.deletedFrom.isEmpty ? ChangeSet() : file.recorder.changes
        connection.rollback()
        transaction = nil
        isReading = false
        if cancelled.hasMadeObjects { cancelledTransactions.insert(cancelled.number) }
        for index in keptRowIDs.indices { keptRowIDs[index] = nil }
        for index in cancelled.deletedFrom {
            let rows = undone[index].isEverything ? RowIDSet(first: .min, last: .max) : undone[index].deleted
            classes[index].deletions.cancel(rows, stamp: classes[index].stamp)
        }
        noteNewVersion()
        resumeReading(reading { try beginReading() })
        notifier.schedule()
    }

    /// Notes that the transaction can't be committed. Only the first reason is kept.
    func fail(_ code: Realm.Error.Code, _ message: String) { fail(Realm.Error(code, message)) }

    private func fail(_ error: any Error) {
        if transaction?.failure == nil { transaction?.failure = error }
    }

    /// Runs a step of the write transaction. After an SQLite error, nothing more is written.
    func perform(_ body: () throws -> Void) {
        guard transaction?.isBroken == false else { return }
        cursors.drain()
        do {
            try body()
            transaction?.hasChanges = true
        } catch {
            transaction?.isBroken = true
            fail(error)
        }
    }

    /// Appends an instruction to the upload queue.
    func log(_ instruction: @autoclosure () -> Instruction) {
        guard file.isSynced else { return }
        let instruction = instruction()
        transaction?.changeset?.append(instruction)
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

    /// - Returns: whether the column can hold the value. If not, the transaction fails.
    func validate(_ value: Value, column: Int, of classIndex: Int) -> Bool {
        do {
            try classes[classIndex].validate(value, column)
            return true
        } catch {
            fail(.invalidInput, "\(schema[classIndex].name): \(error.message)")
            return false
        }
    }

    /// The number of the current transaction, for rows it creates; 0 outside transactions.
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
}
