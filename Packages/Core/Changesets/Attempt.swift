internal import TomboloModel

extension Arbiter {
    /// One try at applying a changeset.
    struct Attempt {
        var arbiter: Arbiter
        let client: ClientID
        let stamp: Stamp
        let base: Snapshot
        /// The objects that the user can't read.
        let hidden: Set<ObjectReference>
        /// The hidden objects that still count as missing.
        var unseen: Set<ObjectReference>
        var writes: [RowWrite] = []
        /// The position of the instruction that each write comes from.
        var positions: [Int] = []
        /// By object, the position in ``writes`` of its last write, if that only adds to columns.
        var sums: [ObjectReference: Int] = [:]
        /// The position of the instruction being performed.
        var position = 0
        var lost = 0
        /// By object; filled at the first instruction on it.
        var concurrentWrites: [ObjectReference: ConcurrentWrites] = [:]
        /// Log entries for what foreign keys did.
        var consequences: [LogEntry] = []
        /// For permissions: the lives within the changeset of every object that an instruction named.
        var lives: [ObjectReference: [ObjectLife]] = [:]
        var touched: [ObjectReference] = []
        /// By object, the columns that the changeset writes in existing rows. Defaults that replace nothing don't count.
        var written: [ObjectReference: Set<Int>] = [:]
        /// Instructions that can't be carried out, by position, with their objects. Only a user who may write the
        /// object learns the reason, because it reveals something about rows.
        var impossible: [(position: Int, reference: ObjectReference, refusal: Refusal)] = []
        /// Links to objects that a later instruction of the changeset may create, in order.
        var deferredLinks: [(from: Field, to: ObjectReference, position: Int)] = []
        /// The position in ``deferredLinks`` of a column's link, unless the column was written since.
        var deferral: [Field: Int] = [:]
        /// The positions in ``deferredLinks`` of the links to an object since its last erase.
        var deferralsTo: [ObjectReference: [Int]] = [:]
        /// The referrers of objects that were erased.
        var endedReferrers: [ObjectReference: [Field]] = [:]
        /// Which columns the last created object got by default. Kept because consecutive objects usually have the same ones.
        var lastDefaults: (isDefault: [Bool], columns: Set<Int>) = ([], [])

        /// - Parameter instructionCount: about how many instructions the changeset has.
        init(
            arbiter: Arbiter, client: ClientID, stamp: Stamp, base: Snapshot, hidden: Set<ObjectReference>,
            instructionCount: Int = 0
        ) {
            self.arbiter = arbiter
            self.client = client
            self.stamp = stamp
            self.base = base
            self.hidden = hidden
            unseen = hidden
            writes.reserveCapacity(instructionCount)
            positions.reserveCapacity(instructionCount)
            lives.reserveCapacity(instructionCount)
            touched.reserveCapacity(instructionCount)
            self.arbiter.rows.begin()
            self.arbiter.trash.begin()
        }

        /// The concurrent writes to an object. They can be kept for the whole changeset because the log gets its own
        /// entries only in ``finish()``.
        mutating func concurrentWrites(to reference: ObjectReference) -> ConcurrentWrites {
            guard !arbiter.log.isEmpty, let entries = arbiter.log[reference] else { return ConcurrentWrites() }
            if let known = concurrentWrites[reference] { return known }
            let found = ConcurrentWrites(
                entries, columnCount: arbiter.schema[reference.classIndex].columns.count, client: client, stamp: stamp,
                base: base)
            concurrentWrites[reference] = found
            return found
        }

        mutating func touch(_ reference: ObjectReference) {
            guard lives[reference] == nil else { return }
            lives[reference] = arbiter.rows[reference].map { [ObjectLife(old: $0, replaced: nil, last: $0)] } ?? []
            touched.append(reference)
        }

        /// Removes a row, but keeps what permission checks need.
        mutating func remove(_ reference: ObjectReference) {
            guard let row = arbiter.rows.take(reference) else { return }
            guard let count = lives[reference]?.count, count > 0 else { return }
            lives[reference]?[count - 1].end(row)
        }

        /// The state after the changeset, with log entries for the changesets that follow in the group.
        mutating func finish() -> Arbiter {
            if arbiter.repeated?.isEmpty != true {
                for write in writes where arbiter.repeated?.contains(write.reference) != false {
                    arbiter.load(entry(for: write))
                }
            }
            for entry in consequences { arbiter.load(entry) }
            arbiter.rows.keep()
            arbiter.trash.keep()
            return arbiter
        }

        /// The state before the changeset.
        mutating func takeBack() -> Arbiter {
            arbiter.rows.takeBack()
            arbiter.trash.takeBack()
            for (target, referrers) in endedReferrers { arbiter.referrers[target, default: []] += referrers }
            return arbiter
        }

        func entry(for write: RowWrite) -> LogEntry {
            var marks: [Int: LogEntry.Mark] = [:]
            let operation: LogEntry.Operation
            switch write {
            case .insert(_, _, let defaults):
                operation = .create
                for column in defaults { marks[column] = .byDefault }
            case .update(_, let columns):
                operation = .update
                for column in columns { marks[column.column] = column.mark }
            case .erase: operation = .erase
            }
            return LogEntry(
                reference: write.reference, operation: operation, marks: marks, xid: .max, stamp: stamp, client: client)
        }
    }
}
