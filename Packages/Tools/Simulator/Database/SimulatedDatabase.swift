internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// PostgreSQL as far as synchronisation depends on it: row versions, transaction IDs assigned at the first write,
/// snapshots, row locks, a changelog written in the writer's own transaction, a write-ahead log whose unflushed end is
/// lost in a crash, and sequence numbers and transaction IDs that are then reused.
final class SimulatedDatabase {
    struct Version {
        let xid: UInt64
        /// The row, or nil if deleted.
        let row: Row?
    }

    struct Receipt {
        let fingerprint: Int64
        var refusals: [Refusal]
    }

    /// A client's progress row.
    struct Progress {
        var user: String
        var last: Int64
        var receipts: [Int64: Receipt]
    }

    enum WriteAheadRecord {
        case commit(UInt64)
        case tick(Int64)
    }

    let schema: Schema
    private(set) var tables: [ObjectReference: [Version]] = [:]
    private var clients: [ClientID: [(xid: UInt64, progress: Progress)]] = [:]
    /// Committed transactions' changelog rows and the clients whose progress they changed.
    private(set) var changelog: [UInt64: (rows: [LogRow], clients: Set<ClientID>)] = [:]
    private(set) var ticks: [Int64: Tick] = [:]
    private(set) var latest = Tick.origin
    /// Counts the elections of a sequencer.
    var sequencerEpoch = 0
    /// Ticks below this number are dropped, with their changelog.
    private(set) var floor: Int64 = 0
    private(set) var nextXid: UInt64 = 100
    private var nextSequence: Int64 = 1
    private var nextTransaction = 1
    private(set) var running: [UInt64: SimulatedTransaction] = [:]
    private var transactions: [Int: SimulatedTransaction] = [:]
    private var holders: [SimulatedTransaction.LockKey: Int] = [:]
    private var writeAheadLog: [WriteAheadRecord] = []
    private var flushed = 0
    private(set) var committed: Set<UInt64> = []
    /// The changeset numbers that clients acknowledged at opening: refusals up to them are no longer sent.
    var acknowledged: [ClientID: Int64] = [:]
    /// Transaction IDs lost in a crash, which may be reused.
    private var lostXids: Set<UInt64> = []
    var reusedXid: (() -> Void)?
    /// The server's clock in microseconds.
    var now: () -> Int64

    /// For each class, the columns that link to it.
    private let linksTo: [[(classIndex: Int, column: Int)]]

    init(schema: Schema, now: @escaping () -> Int64) {
        self.schema = schema
        self.now = now
        linksTo = schema.classes.map { target in
            schema.classes.enumerated().flatMap { classIndex, item in
                item.columns.indices.filter { item.columns[$0].linkTarget == target.name }.map { (classIndex, $0) }
            }
        }
    }

    // MARK: Transactions

    func begin() -> SimulatedTransaction {
        let transaction = SimulatedTransaction(id: nextTransaction)
        nextTransaction += 1
        transactions[transaction.id] = transaction
        return transaction
    }

    /// Takes a lock, or returns false if another transaction has it.
    /// - Throws: ``SimulatedDeadlock`` if that transaction waits for this one.
    func lock(_ key: SimulatedTransaction.LockKey, _ transaction: SimulatedTransaction) throws -> Bool {
        guard let holder = holders[key], holder != transaction.id else {
            holders[key] = transaction.id
            transaction.locks.insert(key)
            transaction.waitsFor = nil
            return true
        }
        try wait(for: holder, transaction)
        return false
    }

    private func wait(for holder: Int, _ transaction: SimulatedTransaction) throws {
        transaction.waitsFor = holder
        var next: Int? = holder
        while let id = next {
            if id == transaction.id {
                transaction.waitsFor = nil
                throw SimulatedDeadlock()
            }
            next = transactions[id]?.waitsFor
        }
    }

    private func assignXid(_ transaction: SimulatedTransaction) -> UInt64 {
        if let xid = transaction.xid { return xid }
        let xid = nextXid
        nextXid += 1
        if lostXids.remove(xid) != nil { reusedXid?() }
        transaction.xid = xid
        running[xid] = transaction
        return xid
    }

    func commit(_ transaction: SimulatedTransaction, synchronous: Bool) {
        if let xid = transaction.xid {
            committed.insert(xid)
            running[xid] = nil
            let known = changelog[xid]?.clients ?? []
            if !transaction.log.isEmpty || !known.isEmpty { changelog[xid] = (transaction.log, known) }
            writeAheadLog.append(.commit(xid))
            if synchronous { flush() }
        }
        finish(transaction)
    }

    func rollBack(_ transaction: SimulatedTransaction) {
        guard !transaction.isFinished else { return }
        rollBack(transaction, to: 0)
        if let xid = transaction.xid {
            running[xid] = nil
            changelog[xid] = nil
        }
        finish(transaction)
    }

    /// Rolls back to a savepoint: a count of ``SimulatedTransaction/undo``.
    func rollBack(_ transaction: SimulatedTransaction, to savepoint: Int) {
        while transaction.undo.count > savepoint {
            switch transaction.undo.removeLast() {
            case .version(let reference): tables[reference]?.removeLast()
            case .client(let client):
                clients[client]?.removeLast()
                if let xid = transaction.xid { changelog[xid]?.clients.remove(client) }
            case .log: transaction.log.removeLast()
            }
        }
    }

    private func finish(_ transaction: SimulatedTransaction) {
        transaction.isFinished = true
        for key in transaction.locks where holders[key] == transaction.id { holders[key] = nil }
        transactions[transaction.id] = nil
    }

    func flush() { flushed = writeAheadLog.count }

    /// Loses everything not flushed. Returns the IDs of lost transactions that had committed.
    func crash() -> Set<UInt64> {
        for transaction in transactions.values.sorted(by: { $0.id < $1.id }) { rollBack(transaction) }
        var lost: Set<UInt64> = []
        for record in writeAheadLog[flushed...] {
            switch record {
            case .commit(let xid): lost.insert(xid)
            case .tick(let number): ticks[number] = nil
            }
        }
        writeAheadLog.removeSubrange(flushed...)
        for reference in tables.keys {
            tables[reference]?.removeAll { lost.contains($0.xid) }
        }
        for client in clients.keys { clients[client]?.removeAll { lost.contains($0.xid) } }
        for xid in lost {
            changelog[xid] = nil
            committed.remove(xid)
        }
        latest = ticks.values.max { $0.number < $1.number } ?? .origin
        let highest = committed.max() ?? 99
        lostXids.formUnion(lost)
        nextXid = max(highest, latest.snapshot.xmax == 0 ? 0 : latest.snapshot.xmax - 1) + 1
        nextSequence = (changelog.values.flatMap(\.rows).map(\.sequence).max() ?? 0) + 1
        return lost
    }

    var snapshot: Snapshot {
        Snapshot(xmin: running.keys.min() ?? nextXid, xmax: nextXid, running: Set(running.keys))
    }

    // MARK: Rows

    /// The newest row that is either committed or the transaction's own.
    func current(_ reference: ObjectReference, _ transaction: SimulatedTransaction? = nil) -> Row? {
        guard let versions = tables[reference] else { return nil }
        for version in versions.reversed()
        where committed.contains(version.xid) || version.xid == transaction?.xid {
            return version.row
        }
        return nil
    }

    func row(_ reference: ObjectReference, in snapshot: Snapshot) -> Row? {
        guard let versions = tables[reference] else { return nil }
        for version in versions.reversed() where snapshot.sees(version.xid) && committed.contains(version.xid) {
            return version.row
        }
        return nil
    }

    /// Every row as of a snapshot.
    func content(in snapshot: Snapshot) -> [ObjectReference: Row] {
        var result: [ObjectReference: Row] = [:]
        for reference in tables.keys {
            if let row = row(reference, in: snapshot) { result[reference] = row }
        }
        return result
    }

    /// Objects with a foreign key to this one, as the transaction sees them.
    func dependents(of target: ObjectReference, _ transaction: SimulatedTransaction) -> [ObjectReference] {
        guard !linksTo[target.classIndex].isEmpty else { return [] }
        return tables.keys.filter { reference in
            reference != target
                && linksTo[target.classIndex].contains { link in
                    link.classIndex == reference.classIndex
                        && current(reference, transaction)?[link.column] == target.key
                }
        }.sorted(by: SimulatedSchema.precedes)
    }

    /// Checks the unique rules for a row. Returns false if another transaction decides and must be waited for.
    /// - Throws: ``UniqueViolation``, ``SimulatedDeadlock``.
    private func checkUnique(
        _ reference: ObjectReference, _ row: Row, _ transaction: SimulatedTransaction
    ) throws -> Bool {
        let rules = schema[reference.classIndex].uniqueColumns
        guard !rules.isEmpty else { return true }
        func collision(_ other: Row?) -> [Int]? {
            guard let other else { return nil }
            return rules.first { rule in rule.allSatisfy { other[$0] == row[$0] && !row[$0].isNull } }
        }
        var deciding: Int?
        for (other, versions) in tables where other.classIndex == reference.classIndex && other != reference {
            guard let version = versions.last else { continue }
            if version.xid != transaction.xid, let writer = running[version.xid] {
                if collision(current(other)) != nil || collision(version.row) != nil {
                    deciding = min(deciding ?? writer.id, writer.id)
                }
            } else if let rule = collision(current(other, transaction)) {
                let item = schema[reference.classIndex]
                throw UniqueViolation(
                    className: item.name, key: reference.key, properties: rule.map { item.columns[$0].name })
            }
        }
        if let deciding {
            try wait(for: deciding, transaction)
            return false
        }
        transaction.waitsFor = nil
        return true
    }

    /// Writes a row, or deletes it if nil. The transaction must hold its lock and its dependents'. Returns false if it
    /// must wait and try again.
    func write(
        _ reference: ObjectReference, _ row: Row?, marks: [Int: LogEntry.Mark] = [:],
        _ transaction: SimulatedTransaction
    ) throws -> Bool {
        let old = current(reference, transaction)
        guard old != nil || row != nil else { return true }
        if let row, try !checkUnique(reference, row, transaction) { return false }
        if row == nil {
            for dependent in dependents(of: reference, transaction) {
                guard var changed = current(dependent, transaction) else { continue }
                guard schema[dependent.classIndex].owner == nil else {
                    append(dependent, nil, [:], transaction)
                    continue
                }
                var marks: [Int: LogEntry.Mark] = [:]
                for link in linksTo[reference.classIndex]
                where link.classIndex == dependent.classIndex && changed[link.column] == reference.key {
                    changed[link.column] = .null
                    marks[link.column] = .set
                }
                append(dependent, changed, marks, transaction)
            }
        }
        append(reference, row, marks, transaction)
        return true
    }

    private func append(
        _ reference: ObjectReference, _ row: Row?, _ marks: [Int: LogEntry.Mark], _ transaction: SimulatedTransaction
    ) {
        let old = current(reference, transaction)
        let xid = assignXid(transaction)
        tables[reference, default: []].append(Version(xid: xid, row: row))
        transaction.undo.append(.version(reference))
        var oldValues: [Int: Value] = [:]
        if let old, row != nil { for column in marks.keys { oldValues[column] = old[column] } }
        transaction.log.append(
            LogRow(
                sequence: nextSequence, xid: xid, reference: reference,
                operation: row == nil ? .erase : old == nil ? .create : .update, marks: marks, oldValues: oldValues,
                oldRow: row == nil ? old : nil, stamp: transaction.origin?.stamp ?? Stamp(microseconds: now()),
                client: transaction.origin?.client, number: transaction.origin?.number ?? 0))
        nextSequence += 1
        transaction.undo.append(.log)
    }

    // MARK: Clients

    func progress(_ client: ClientID, _ transaction: SimulatedTransaction? = nil) -> Progress? {
        clients[client]?.last { committed.contains($0.xid) || $0.xid == transaction?.xid }?.progress
    }

    func progress(_ client: ClientID, in snapshot: Snapshot) -> Progress? {
        clients[client]?.last { committed.contains($0.xid) && snapshot.sees($0.xid) }?.progress
    }

    /// Progress including uncommitted writers. Used only by a mutant.
    func uncommittedProgress(_ client: ClientID) -> Progress? { clients[client]?.last?.progress }

    func setProgress(_ client: ClientID, _ progress: Progress, _ transaction: SimulatedTransaction) {
        let xid = assignXid(transaction)
        clients[client, default: []].append((xid, progress))
        transaction.undo.append(.client(client))
        changelog[xid, default: ([], [])].clients.insert(client)
    }

    // MARK: Changelog

    /// Committed transactions that one snapshot doesn't see but a later one does.
    func transactions(after base: Snapshot, upTo end: Snapshot? = nil) -> [UInt64] {
        var result: [UInt64] = []
        for xid in base.running where committed.contains(xid) && end?.sees(xid) != false { result.append(xid) }
        var xid = max(base.xmax, 100)
        let limit = end?.xmax ?? nextXid
        while xid < limit {
            if committed.contains(xid), end?.sees(xid) != false { result.append(xid) }
            xid += 1
        }
        return result
    }

    func logRows(of xids: [UInt64]) -> [LogRow] {
        xids.flatMap { changelog[$0]?.rows ?? [] }.sorted { $0.sequence < $1.sequence }
    }

    // MARK: Ticks

    /// Whether a tick would see something that the last one doesn't.
    var hasNews: Bool {
        transactions(after: latest.snapshot).contains { changelog[$0] != nil }
    }

    /// - Parameter epoch: the sequencer's epoch, or nil for a sequencer without fencing.
    /// - Returns: nil if another sequencer has been elected since.
    func commitTick(snapshot: Snapshot, token: Int64, time: Stamp, epoch: Int?, synchronous: Bool) -> Tick? {
        guard epoch == nil || epoch == sequencerEpoch else { return nil }
        let tick = Tick(number: latest.number + 1, token: token, snapshot: snapshot, time: time)
        ticks[tick.number] = tick
        latest = tick
        writeAheadLog.append(.tick(tick.number))
        if synchronous { flush() }
        return tick
    }

    func tick(_ number: Int64) -> Tick? { number == 0 ? .origin : number < floor ? nil : ticks[number] }

    /// Drops ticks below a number, and changelog rows seen by its snapshot and all later ones.
    func drop(below number: Int64) {
        guard number > floor, let tick = ticks[number] else { return }
        floor = number
        for xid in changelog.keys where xid < tick.snapshot.xmin { changelog[xid] = nil }
    }
}
