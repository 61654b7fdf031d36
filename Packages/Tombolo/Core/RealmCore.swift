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
    private let writer: InstructionWriter
    /// Deletes the file of an in-memory Realm after its last user.
    private let memoryFile: MemoryFile?
    /// By class position; nil for element classes.
    private let objectClasses: [ObjectClass?]
    private let classIndexes: [ObjectIdentifier: Int]
    private let linkTargets: [[Int?]]

    /// Raised when the content may have changed other than through this Realm's rows.
    private(set) var version: UInt64 = 1
    /// Raised by own writes, by class: any change, and objects made or erased.
    private(set) var changes: [UInt64]
    private(set) var membership: [UInt64]
    /// The rows that the app holds, by class and key.
    private var rows: [[Value: WeakRow]]
    private var sweepAt = RealmCore.smallestSweep
    private var rowCount = 0

    private(set) var transaction: WriteTransaction?
    private var transactionCount: UInt64 = 0
    /// SQLite's counter of other connections' commits: <https://www.sqlite.org/pragma.html#pragma_data_version>.
    private var dataVersion: Int64 = -1
    private var isReading = false
    private var observers: [(id: Int, body: (Realm.Notification, Realm) -> Void)] = []
    private var nextObserverID = 0
    private var fileObserver: Int?
    var autorefresh = true
    /// Keeps the file and a gateway in step; nil for a local Realm.
    var syncSession: SyncSession?

    private static let smallestSweep = 4_096

    private struct WeakRow {
        weak var row: ManagedRow?
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
        var generator = SystemRandomNumberGenerator()
        file = try StoreFile(
            path: path, schema: schema,
            options: StoreOptions(
                isSynced: configuration.isSynced, schemaVersion: configuration.schemaVersion,
                isReadOnly: configuration.readOnly, durability: memoryFile == nil ? .full : .off),
            newClient: .random(using: &generator))
        writer = InstructionWriter(file)
        var objectClasses: [ObjectClass?] = Array(repeating: nil, count: schema.classes.count)
        var classIndexes: [ObjectIdentifier: Int] = [:]
        for type in types {
            let objectClass = ObjectClass.of(type)
            guard let index = schema.index(of: objectClass.schema.name) else { continue }
            objectClasses[index] = objectClass
            classIndexes[ObjectIdentifier(type)] = index
        }
        self.objectClasses = objectClasses
        self.classIndexes = classIndexes
        linkTargets = schema.classes.map { item in
            item.columns.map { $0.linkTarget.flatMap { schema.index(of: $0) } }
        }
        changes = Array(repeating: 0, count: schema.classes.count)
        membership = changes
        rows = Array(repeating: [:], count: schema.classes.count)
        try beginReading()
        listen()
    }

    deinit {
        if let fileObserver { file.observers.remove(fileObserver) }
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
        return try noticeOthers()
    }

    private func noticeOthers() throws -> Bool {
        let current = try connection.integer("PRAGMA data_version") ?? 0
        guard current != dataVersion else { return false }
        dataVersion = current
        version += 1
        return true
    }

    private func endReading() {
        if isReading { connection.rollback() }
        isReading = false
    }

    /// Moves to the newest version. No effect inside a write transaction, which is at the newest already.
    func refresh() -> Bool {
        confinement.check()
        guard transaction == nil else { return false }
        endReading()
        let changed = reading { try beginReading() }
        if changed { notify(.didChange) }
        return changed
    }

    /// Lets go of the version and of every row; the next use begins anew.
    func invalidate() {
        confinement.check()
        if transaction != nil { cancel() }
        endReading()
        forEachRow { $0.kill() }
        rows = Array(repeating: [:], count: rows.count)
        rowCount = 0
        version += 1
    }

    /// Runs a query: on the pinned version, with everything written so far.
    func query<Result>(_ body: () throws -> Result) -> Result {
        reading {
            if !isReading, transaction == nil { try beginReading() }
            flush()
            return try body()
        }
    }

    /// A read has no way to fail in the API: the medium is broken, or the file was damaged from outside.
    private func reading<Result>(_ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            programError("The Realm cannot be read. \(error)")
        }
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
        if transaction != nil { programError("The Realm is already in a write transaction.") }
        if configuration.readOnly {
            throw Realm.Error(.filePermissionDenied, "'\(file.path)' was opened for reading only.")
        }
        endReading()
        let changed: Bool
        do {
            try connection.run("BEGIN IMMEDIATE")
            changed = try noticeOthers()
        } catch {
            connection.rollback()
            throw Realm.Error(wrapping: error)
        }
        startTransaction(failure: nil)
        if changed { notify(.didChange) }
    }

    /// A transaction that could not begin: nothing of it is kept, and committing it throws.
    func beginFailed(_ error: any Error) { startTransaction(failure: error) }

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
            for (classIndex, last) in finished.lastRowIDs { try RowIDCounter(file).keep(last, classIndex) }
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
        connection.rollback()
        transaction = nil
        isReading = false
        version += 1
        forEachRow { if $0.createdIn == cancelled.number { $0.kill() } }
        _ = reading { try beginReading() }
    }

    /// Notes that the transaction cannot be committed; the first reason counts.
    func fail(_ code: Realm.Error.Code, _ message: String) { fail(Realm.Error(code, message)) }

    private func fail(_ error: any Error) {
        if transaction?.failure == nil { transaction?.failure = error }
    }

    /// Adds a step to the transaction. Performed on the tables before the next query, at the latest at commit.
    func record(_ instruction: Instruction) {
        let classIndex = instruction.reference.classIndex
        changes[classIndex] += 1
        switch instruction {
        case .create: membership[classIndex] += 1
        case .erase:
            membership[classIndex] += 1
            for element in layout.tables[classIndex].elementClasses { membership[element] += 1 }
            if !file.isSynced {
                // Links to it become nil in the tables.
                version += 1
            }
        case .set, .add: break
        }
        transaction?.hasChanges = true
        transaction?.waiting.append(instruction)
        if file.isSynced { transaction?.changeset.append(instruction) }
    }

    private func flush() {
        guard let waiting = transaction?.waiting, !waiting.isEmpty, transaction?.failure == nil else { return }
        transaction?.waiting = InstructionLog()
        do {
            for instruction in waiting.instructions { try writer.perform(instruction) }
        } catch {
            fail(error)
        }
    }

    /// - Returns: whether the column takes the value; otherwise the transaction fails.
    func validate(_ value: Value, column: Int, of classIndex: Int) -> Bool {
        let definition = schema[classIndex].columns[column]
        do {
            try definition.validate(
                value, linkKeyType: definition.linkTarget == nil ? nil : schema.keyType(ofLink: definition))
            return true
        } catch {
            fail(.invalidInput, "\(schema[classIndex].name): \(error.message)")
            return false
        }
    }

    /// The identity of a new object of a class without a primary key; never that of an earlier one.
    func nextRowID(_ classIndex: Int) -> Int64 {
        let last: Int64
        if let known = transaction?.lastRowIDs[classIndex] {
            last = known
        } else if transaction?.failure != nil {
            // Nothing is kept, and the file may not even be locked.
            last = 0
        } else {
            last = query { try RowIDCounter(file).last(classIndex) }
        }
        transaction?.lastRowIDs[classIndex] = last + 1
        return last + 1
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
        guard let objectClass = objectClasses[classIndex] else {
            programError("\(schema[classIndex].name) has no objects of its own.")
        }
        return objectClass
    }

    func linkTarget(of classIndex: Int, _ column: Int) -> Int? { linkTargets[classIndex][column] }

    // MARK: Rows

    /// The row of an object, which may not exist.
    func row(_ reference: ObjectReference) -> ManagedRow {
        if let known = rows[reference.classIndex][reference.key]?.row, !known.isDead { return known }
        return remember(ManagedRow(core: self, classIndex: reference.classIndex, key: reference.key))
    }

    func remember(_ row: ManagedRow) -> ManagedRow {
        if rows[row.classIndex].updateValue(WeakRow(row: row), forKey: row.key) == nil { rowCount += 1 }
        if rowCount > sweepAt { sweep() }
        return row
    }

    /// The row of an object that exists.
    func find(_ reference: ObjectReference) -> ManagedRow? {
        let row = row(reference)
        return row.isValid ? row : nil
    }

    /// Reads a row's values, or finds that it is gone.
    func fetch(_ row: ManagedRow) { fetch([row]) }

    /// The same for several rows of one class.
    func fetch(_ rows: [ManagedRow]) {
        guard let first = rows.first(where: { !$0.isFresh && !$0.isDead }) else { return }
        let table = layout.tables[first.classIndex]
        query {
            let statement = try connection.statement(table.selectByKey)
            for row in rows where !row.isFresh && !row.isDead {
                statement.bind(row.key, at: 1)
                if try statement.step() {
                    row.fill(statement.row(table.storedTypes).values)
                } else {
                    row.kill()
                }
                statement.reset()
            }
        }
    }

    func forget(_ row: ManagedRow) {
        row.kill()
        if rows[row.classIndex].removeValue(forKey: row.key) != nil { rowCount -= 1 }
    }

    private func forEachRow(_ body: (ManagedRow) -> Void) {
        for byKey in rows { for entry in byKey.values { if let row = entry.row { body(row) } } }
    }

    /// Forgets rows that nobody holds.
    private func sweep() {
        for index in rows.indices { rows[index] = rows[index].filter { $0.value.row != nil } }
        rowCount = rows.reduce(0) { $0 + $1.count }
        sweepAt = max(Self.smallestSweep, rowCount * 2)
    }

    // MARK: Notifications

    func addObserver(_ body: @escaping (Realm.Notification, Realm) -> Void) -> Int {
        confinement.check()
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
