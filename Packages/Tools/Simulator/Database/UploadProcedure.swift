internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// A transaction that applies uploads step by step, so that others can run in between: it locks the clients' progress
/// rows and the target rows in order, reads the changelog since the bases, writes, and commits.
final class UploadProcedure {
    private enum Stage {
        case claim(Int)
        case lock(Int)
        case write(Int)
        case finish
        case commit
        case done
    }

    struct Judged {
        let upload: Upload
        let index: Int
        let base: Tick
        let stamp: Stamp
        /// The part of the changeset that isn't applied.
        var refused = RefusedInstructions()
        /// The committed state when a write violated a unique rule.
        var violatedAt: Snapshot?
    }

    let database: SimulatedDatabase
    let uploads: [Upload]
    let receivedAt: Stamp
    private let mutant: Mutant?
    private(set) var transaction: SimulatedTransaction
    private(set) var results: [UploadResult]
    /// The uploads that were applied or refused, in order.
    private(set) var judged: [Judged] = []
    private(set) var waits = 0
    /// Called when everything is written, before the commit.
    var willCommit: ((UploadProcedure) -> Void)?
    private var stage = Stage.claim(0)
    private var clients: [ClientID]
    private var progress: [ClientID: SimulatedDatabase.Progress] = [:]
    private var order: [ObjectReference] = []
    private var arbiter: Arbiter

    init(database: SimulatedDatabase, uploads: [Upload], mutant: Mutant? = nil) {
        self.database = database
        self.uploads = uploads
        self.mutant = mutant
        receivedAt = Stamp(microseconds: database.now())
        transaction = database.begin()
        results = uploads.map { _ in .duplicate }
        clients = Array(Set(uploads.map(\.client))).sorted()
        arbiter = Arbiter(schema: database.schema)
    }

    var isDone: Bool { if case .done = stage { true } else { false } }
    var isReadyToCommit: Bool { if case .commit = stage { true } else { false } }

    /// Takes one step. Returns false if it must wait for another transaction and be retried later.
    /// - Throws: ``SimulatedDeadlock`` after rolling back; the next step starts over.
    func step() throws -> Bool {
        do {
            let moved = try advance()
            if !moved { waits += 1 }
            return moved
        } catch {
            restart()
            throw error
        }
    }

    func abort() {
        database.rollBack(transaction)
        stage = .done
    }

    private func restart() {
        database.rollBack(transaction)
        transaction = database.begin()
        stage = .claim(0)
        judged = []
        progress = [:]
        order = []
        arbiter = Arbiter(schema: database.schema)
    }

    private func advance() throws -> Bool {
        switch stage {
        case .claim(let index):
            guard index < clients.count else {
                classify()
                collect()
                stage = judged.isEmpty ? .finish : .lock(0)
                return true
            }
            let client = clients[index]
            if mutant != .progressWrittenLast {
                guard try database.lock(.client(client), transaction) else { return false }
            }
            progress[client] =
                database.progress(client, transaction)
                ?? SimulatedDatabase.Progress(user: "", last: 0, receipts: [:])
            stage = .claim(index + 1)
        case .lock(let index):
            guard index < order.count else {
                let more = missingLocks()
                if more.isEmpty {
                    load()
                    // Retention may have dropped rows between reading the base and reading the changelog.
                    let isWhole = judged.allSatisfy { $0.base.number >= database.floor }
                    guard isWhole || mutant == .droppedBaseAccepted || mutant == .baseCheckedFirst else {
                        throw SimulatedDeadlock()
                    }
                    stage = .write(0)
                } else {
                    order += more
                }
                return true
            }
            guard try database.lock(.row(order[index]), transaction) else { return false }
            stage = .lock(index + 1)
        case .write(let index):
            guard index < judged.count else {
                stage = .finish
                return true
            }
            guard try apply(judgedAt: index) else { return false }
            stage = .write(index + 1)
        case .finish:
            for client in clients {
                guard let progress = progress[client] else { continue }
                if mutant == .progressWrittenLast {
                    guard try database.lock(.client(client), transaction) else { return false }
                }
                if !judged.isEmpty { database.setProgress(client, progress, transaction) }
            }
            stage = .commit
        case .commit:
            willCommit?(self)
            database.commit(transaction, synchronous: true)
            stage = .done
        case .done: break
        }
        return true
    }

    /// Decides by number and base which uploads to apply.
    private func classify() {
        var stopped: Set<ClientID> = []
        for (index, upload) in uploads.enumerated() {
            guard var known = progress[upload.client] else { continue }
            let changeset = upload.changeset
            let number = changeset.number
            let fingerprint = changeset.fingerprint(in: database.schema)
            if number <= known.last, mutant != .noDuplicateCheck {
                results[index] = known.receipts[number]?.fingerprint == fingerprint ? .duplicate : .conflict
                if results[index] == .conflict { stopped.insert(upload.client) }
                continue
            }
            guard !stopped.contains(upload.client), number <= known.last + 1 else {
                results[index] = .gap(expected: known.last + 1)
                stopped.insert(upload.client)
                continue
            }
            var base = database.tick(changeset.base)
            if base == nil, mutant == .droppedBaseAccepted { base = database.tick(database.floor) }
            guard let base, changeset.base > 0 || database.floor == 0 else {
                results[index] = .unknownBase
                stopped.insert(upload.client)
                continue
            }
            known.last = max(known.last, number)
            known.receipts[number] = SimulatedDatabase.Receipt(fingerprint: fingerprint, refusals: [])
            progress[upload.client] = known
            let stamp =
                mutant == .stampNotClamped
                ? changeset.stamp : changeset.stamp.clamped(from: base.time, to: receivedAt)
            judged.append(Judged(upload: upload, index: index, base: base, stamp: stamp))
        }
    }

    private func collect() {
        var references: Set<ObjectReference> = []
        for item in judged {
            let (written, linked) = arbiter.references(of: item.upload.changeset)
            references.formUnion(written)
            references.formUnion(linked)
        }
        order = references.sorted(by: SimulatedSchema.precedes)
    }

    /// Rows that must be locked along with the locked ones: owners of elements, and rows changed by foreign keys on an
    /// erase.
    private func missingLocks() -> [ObjectReference] {
        var result: Set<ObjectReference> = []
        for item in judged {
            for instruction in item.upload.changeset.instructions {
                let reference = instruction.reference
                if let row = database.current(reference, transaction),
                    let owner = arbiter.owner(of: reference, row: row)
                {
                    result.insert(owner)
                }
                if case .erase = instruction {
                    result.formUnion(database.dependents(of: reference, transaction))
                }
            }
        }
        return result.filter { !transaction.locks.contains(.row($0)) }.sorted(by: SimulatedSchema.precedes)
    }

    private func load() {
        for reference in order { arbiter.load(reference, database.current(reference, transaction)) }
        let wanted = Set(order)
        var xids: Set<UInt64> = []
        for base in Set(judged.map(\.base)) {
            var snapshot = base.snapshot
            if mutant == .changelogIgnoresRunning {
                snapshot = Snapshot(xmin: snapshot.xmin, xmax: snapshot.xmax, running: [])
            }
            xids.formUnion(database.transactions(after: snapshot))
        }
        let uploaders = Set(clients)
        for row in database.logRows(of: Array(xids)) where wanted.contains(row.reference) {
            var entry = row.entry
            if mutant == .eraseDoesNotWin, entry.operation == .erase { continue }
            if mutant == .tieWithoutClient, let client = entry.client, !uploaders.contains(client) {
                entry = LogEntry(
                    reference: entry.reference, operation: entry.operation, marks: entry.marks, xid: entry.xid,
                    stamp: entry.stamp, client: ClientID(rawValue: 0))
            }
            arbiter.load(entry)
        }
    }

    private func apply(judgedAt index: Int) throws -> Bool {
        let item = judged[index]
        let savepoint = transaction.undo.count
        let before = arbiter
        let stamp = mutant == .leakedStamp ? judged[0].stamp : item.stamp
        transaction.origin = (item.upload.client, item.upload.changeset.number, stamp)
        var base = item.base.snapshot
        if mutant == .changelogIgnoresRunning { base = Snapshot(xmin: base.xmin, xmax: base.xmax, running: []) }
        var refused = RefusedInstructions()
        while true {
            let outcome = arbiter.apply(
                item.upload.changeset, from: item.upload.client, stamp: stamp, base: base,
                permit: item.upload.permit, sees: item.upload.sees, without: refused)
            var violation: (position: Int, violated: UniqueViolation)?
            for (write, position) in zip(outcome.writes, outcome.positions) {
                do {
                    guard try perform(write) else {
                        database.rollBack(transaction, to: savepoint)
                        arbiter = before
                        return false
                    }
                } catch let error as UniqueViolation {
                    violation = (position, error)
                    break
                }
            }
            guard let violation else {
                judged[index].refused = outcome.refused
                let told = outcome.refused.told
                results[item.index] = .applied(lost: outcome.lost, refusals: told)
                progress[item.upload.client]?.receipts[item.upload.changeset.number]?.refusals = told
                break
            }
            // What the database refuses is left out, and the rest is retried.
            database.rollBack(transaction, to: savepoint)
            arbiter = before
            judged[index].violatedAt = database.snapshot
            refused.refuse(
                at: violation.position,
                Refusal(
                    .constraint,
                    "Another \(violation.violated.className) has this "
                        + "\(violation.violated.properties.joined(separator: " and ")), which must be unique.",
                    className: violation.violated.className, key: violation.violated.key))
        }
        transaction.origin = nil
        return true
    }

    private func perform(_ write: RowWrite) throws -> Bool {
        switch write {
        case .insert(let reference, let row, let defaults):
            return try database.write(
                reference, row, marks: Dictionary(uniqueKeysWithValues: defaults.map { ($0, .byDefault) }),
                transaction)
        case .update(let reference, let columns):
            guard var row = database.current(reference, transaction) else { return true }
            var marks: [Int: LogEntry.Mark] = [:]
            for column in columns {
                row[column.column] = column.value
                marks[column.column] = column.mark
                if mutant == .additionLoggedAsSet, case .add = column.mark { marks[column.column] = .set }
            }
            return try database.write(reference, row, marks: marks, transaction)
        case .erase(let reference): return try database.write(reference, nil, transaction)
        }
    }
}
