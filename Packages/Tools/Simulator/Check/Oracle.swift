internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// Computes what each changeset should do from its own record of everything committed: a second implementation of the
/// arbitration rules, independent of the arbiter and the changelog.
final class Oracle {
    enum Kind: Int {
        case create
        case set
        case add
        case erase
    }

    /// One committed write.
    struct Deed {
        let xid: UInt64
        let client: ClientID?
        let stamp: Stamp
        let kind: Kind
        /// The written columns. For a create, those missing here count as ``LogEntry/Mark/set``.
        let marks: [Int: LogEntry.Mark]

        func mark(_ column: Int) -> LogEntry.Mark? { kind == .create ? marks[column] ?? .set : marks[column] }
    }

    private let database: SimulatedDatabase
    private var deeds: [ObjectReference: [Deed]] = [:]
    private var state: [ObjectReference: Row?] = [:]
    private var xid: UInt64 = 0
    /// The moment as of which rows not written by the group are read; nil for now.
    private var moment: Snapshot?
    private var hit: (CoveragePoint) -> Void

    init(database: SimulatedDatabase, hit: @escaping (CoveragePoint) -> Void) {
        self.database = database
        self.hit = hit
    }

    /// Forgets commits lost in a crash.
    func forget(_ lost: Set<UInt64>) {
        guard !lost.isEmpty else { return }
        for reference in deeds.keys { deeds[reference]?.removeAll { lost.contains($0.xid) } }
    }

    /// Records what plain SQL committed.
    func record(_ transaction: SimulatedTransaction) {
        for row in transaction.log {
            let kind: Kind = row.operation == .create ? .create : row.operation == .erase ? .erase : .set
            deeds[row.reference, default: []].append(
                Deed(xid: row.xid, client: nil, stamp: row.stamp, kind: kind, marks: row.marks))
        }
    }

    /// Judges a group that is about to commit. Returns what's wrong, or nil.
    func judge(_ procedure: UploadProcedure) -> String? {
        state = [:]
        xid = procedure.transaction.xid ?? 0
        if procedure.judged.count > 1 { hit(.sharedGroup) }
        for item in procedure.judged {
            if let problem = judge(item, procedure) { return problem }
        }
        for (reference, expected) in state {
            let actual = database.current(reference, procedure.transaction)
            guard actual == expected else {
                return "\(reference) is \(text(actual)) and should be \(text(expected)) after changesets "
                    + "\(procedure.judged.map(\.upload.changeset.number)) of \(procedure.judged[0].upload.client)"
            }
        }
        return nil
    }

    private func text(_ row: Row?) -> String { row.map { "\($0.values)" } ?? "absent" }

    private func row(_ reference: ObjectReference) -> Row? {
        if let known = state[reference] { return known }
        if let moment { return database.row(reference, in: moment) }
        return database.current(reference)
    }

    private func judge(_ item: UploadProcedure.Judged, _ procedure: UploadProcedure) -> String? {
        let client = item.upload.client
        let changeset = item.upload.changeset
        let stamp = Swift.min(
            Swift.max(changeset.stamp, item.base.time), Swift.max(procedure.receivedAt, item.base.time))
        if stamp != changeset.stamp { hit(.stampClamped) }
        guard case .applied(_, let refusals) = procedure.results[item.index] else {
            return "changeset \(changeset.number) of \(client) has no outcome"
        }
        func attempt(_ changeset: Changeset) -> Attempt {
            var attempt = Attempt(oracle: self, client: client, stamp: stamp, base: item.base.snapshot)
            attempt.perform(changeset.instructions)
            attempt.resolveLinks()
            return attempt
        }
        for refusal in refusals {
            let (state, deeds) = (state, deeds)
            // Another transaction may have freed a title between the refusal and this commit.
            moment = item.violatedAt
            let whole = attempt(item.refused.applied(of: changeset, restoring: refusal, schema: database.schema))
            if let problem = problem(refusal, among: refusals, of: whole) {
                return "changeset \(changeset.number) of \(client): \(problem)"
            }
            moment = nil
            (self.state, self.deeds) = (state, deeds)
        }
        let applied = attempt(item.refused.applied(of: changeset, in: database.schema))
        if applied.hidesForbidden || applied.touched.contains(where: { applied.isForbidden($0) }) {
            return "changeset \(changeset.number) of \(client) was applied without permission"
        }
        if applied.isDuplicate { return "changeset \(changeset.number) of \(client) broke the unique rule" }
        if !refusals.isEmpty, !applied.touched.isEmpty { hit(.refusedInPart) }
        return nil
    }

    /// Why something shouldn't have been refused. `attempt` is what would have happened without the refusal.
    /// - Parameter refusals: all refusals of the changeset, because another one may make the difference.
    private func problem(_ refusal: Refusal, among refusals: [Refusal], of attempt: Attempt) -> String? {
        switch refusal.code {
        case .notPermitted:
            hit(.refusedPermission)
            let isForbidden = attempt.hidesForbidden || attempt.touched.contains { attempt.isForbidden($0) }
            // Without a title that is taken, the previously written title remains (seed 922).
            let lacksOther = refusals.contains {
                $0.code == .constraint && $0.className == refusal.className && $0.key == refusal.key
            }
            return isForbidden || lacksOther ? nil : "a permitted write was refused: \(refusal)"
        case .constraint:
            hit(.refusedConstraint)
            return attempt.isDuplicate || refusals.count > 1
                ? nil : "a write that doesn't break the unique rule was refused: \(refusal)"
        case .invalid, .setAside: return "a write was refused: \(refusal)"
        }
    }

    private func isTitleTaken(_ reference: ObjectReference) -> Bool {
        guard reference.classIndex == SimulatedSchema.item, let own = row(reference) else { return false }
        let keys = Set(database.tables.keys).union(state.keys)
        return keys.contains {
            $0.classIndex == SimulatedSchema.item && $0 != reference
                && row($0)?[SimulatedSchema.Item.title] == own[SimulatedSchema.Item.title]
        }
    }

    /// One changeset, step by step.
    private struct Attempt {
        let oracle: Oracle
        let client: ClientID
        let stamp: Stamp
        let base: Snapshot
        var touched: Set<ObjectReference> = []
        var links: [ObjectReference: [Int: Value]] = [:]
        /// Unique rules are checked on every write, not at the end.
        var isDuplicate = false
        var made: Set<ObjectReference> = []
        /// Whether it made something forbidden and erased it again.
        var hidesForbidden = false

        func row(_ reference: ObjectReference) -> Row? { oracle.row(reference) }

        mutating func put(
            _ reference: ObjectReference, _ row: Row?, _ kind: Kind, _ marks: [Int: LogEntry.Mark] = [:]
        ) {
            oracle.state[reference] = .some(row)
            if row != nil, oracle.isTitleTaken(reference) { isDuplicate = true }
            oracle.deeds[reference, default: []].append(
                Deed(xid: oracle.xid, client: client, stamp: stamp, kind: kind, marks: marks))
        }

        func isForbidden(_ reference: ObjectReference) -> Bool {
            reference.classIndex == SimulatedSchema.item
                && row(reference)?[SimulatedSchema.Item.title] == .string(Workload.forbiddenTitle)
        }

        func isLater(than deed: Deed) -> Bool {
            if stamp.microseconds == deed.stamp.microseconds {
                oracle.hit(.tie)
                guard let other = deed.client else { return false }
                return client.rawValue > other.rawValue
            }
            return stamp.microseconds > deed.stamp.microseconds
        }

        /// Performs instructions in order, except that an element waits for an object created later.
        mutating func perform(_ instructions: [Instruction]) {
            var waiting: [(element: ObjectReference, target: ObjectReference, instructions: [Instruction])] = []
            for (index, instruction) in instructions.enumerated() {
                if let place = waiting.firstIndex(where: { $0.element == instruction.reference }) {
                    waiting[place].instructions.append(instruction)
                } else if let target = laterTarget(instruction, instructions[(index + 1)...]) {
                    oracle.hit(.elementBeforeTarget)
                    waiting.append((instruction.reference, target, [instruction]))
                } else {
                    if case .erase(let owner) = instruction {
                        // Its lists are deleted with it.
                        waiting.removeAll { waiter in
                            guard case .create(_, let fields) = waiter.instructions[0] else { return false }
                            return fields.contains { $0.column == ElementColumn.owner && $0.value == owner.key }
                        }
                    }
                    perform(instruction)
                    guard case .create(let target, _) = instruction else { continue }
                    for waiter in waiting where waiter.target == target { waiter.instructions.forEach { perform($0) } }
                    waiting.removeAll { $0.target == target }
                }
            }
        }

        private func laterTarget(_ instruction: Instruction, _ later: ArraySlice<Instruction>) -> ObjectReference? {
            guard case .create(let reference, let fields) = instruction,
                reference.classIndex == SimulatedSchema.link,
                let key = fields.first(where: { $0.column == ElementColumn.target })?.value
            else { return nil }
            let target = ObjectReference(classIndex: SimulatedSchema.item, key: key)
            let isCreatedLater = later.contains {
                if case .create(target, _) = $0 { true } else { false }
            }
            return row(target) == nil && isCreatedLater ? target : nil
        }

        mutating func perform(_ instruction: Instruction) {
            let reference = instruction.reference
            var others: [Deed] = []
            for deed in oracle.deeds[reference] ?? [] where deed.client != client && !base.sees(deed.xid) {
                others.append(deed)
            }
            count(instruction, others)
            if others.contains(where: { $0.kind == .erase }) { return }
            touched.insert(reference)
            switch instruction {
            case .create(_, let fields):
                if row(reference) == nil { insert(reference, fields) } else { set(reference, fields, others) }
            case .set(_, let fields): set(reference, fields, others)
            case .add(_, let column, let amount):
                guard var row = row(reference), case .int(let number) = row[column] else { return }
                for deed in others {
                    if case .set = deed.mark(column), !isLater(than: deed) { return }
                }
                row[column] = .int(number + amount)
                put(reference, row, .add, [column: .add(amount)])
            case .erase:
                guard row(reference) != nil else { return }
                if made.remove(reference) != nil, isForbidden(reference) { hidesForbidden = true }
                let known = Set(oracle.database.tables.keys).union(oracle.state.keys)
                for other in known where other != reference {
                    guard var changed = row(other) else { continue }
                    if other.classIndex == SimulatedSchema.item, changed[SimulatedSchema.Item.parent] == reference.key {
                        changed[SimulatedSchema.Item.parent] = .null
                        // Even if this changeset made the link: if the target is created again, the link doesn't come
                        // back.
                        links[other]?[SimulatedSchema.Item.parent] = nil
                        put(other, changed, .set, [SimulatedSchema.Item.parent: .set])
                    } else if other.classIndex == SimulatedSchema.link,
                        changed[ElementColumn.owner] == reference.key || changed[ElementColumn.target] == reference.key
                    {
                        put(other, nil, .erase)
                    }
                }
                put(reference, nil, .erase)
            }
        }

        mutating func insert(_ reference: ObjectReference, _ fields: [FieldWrite]) {
            let item = oracle.database.schema[reference.classIndex]
            var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
            var marks: [Int: LogEntry.Mark] = [:]
            for column in row.values.indices where column > 0 { marks[column] = .byDefault }
            row[0] = reference.key
            for field in fields {
                row[field.column] = field.value
                marks[field.column] = field.isDefault ? .byDefault : .set
            }
            if reference.classIndex == SimulatedSchema.link {
                for column in [ElementColumn.owner, ElementColumn.target]
                where self.row(ObjectReference(classIndex: SimulatedSchema.item, key: row[column])) == nil {
                    oracle.hit(.linkDropped)
                    oracle.state[reference] = .some(nil)
                    return
                }
            }
            links[reference] = nil
            if reference.classIndex == SimulatedSchema.item {
                links[reference] = [SimulatedSchema.Item.parent: row[SimulatedSchema.Item.parent]]
            }
            put(reference, row, .create, marks)
            made.insert(reference)
        }

        mutating func set(_ reference: ObjectReference, _ fields: [FieldWrite], _ others: [Deed]) {
            guard var row = row(reference) else { return }
            var marks: [Int: LogEntry.Mark] = [:]
            for field in fields where field.column != 0 {
                if field.isDefault, !yields(reference, field.column, others) { continue }
                var isBeaten = false
                var later: Int64 = 0
                for deed in others {
                    switch deed.mark(field.column) {
                    case nil: break
                    case .add(let amount): if !isLater(than: deed) { later += amount }
                    case .set: if !isLater(than: deed) { isBeaten = true }
                    case .byDefault: break
                    }
                }
                guard !isBeaten else { continue }
                row[field.column] = field.value
                if case .int(let number) = field.value, field.column != SimulatedSchema.Item.parent {
                    row[field.column] = .int(number + later)
                }
                if reference.classIndex == SimulatedSchema.item, field.column == SimulatedSchema.Item.parent {
                    links[reference, default: [:]][field.column] = field.value
                }
                marks[field.column] = field.isDefault ? .byDefault : .set
            }
            if !marks.isEmpty { put(reference, row, .set, marks) }
        }

        /// Whether the current value gives way to a default, because it is itself an earlier default by another
        /// device that this one didn't know about.
        func yields(_ reference: ObjectReference, _ column: Int, _ others: [Deed]) -> Bool {
            var author: Deed?
            for deed in oracle.deeds[reference] ?? [] where deed.mark(column) != nil { author = deed }
            guard let author, case .byDefault = author.mark(column) else { return false }
            return others.contains { $0.xid == author.xid && $0.client == author.client } && isLater(than: author)
        }

        /// Links lead to objects that exist at the end of the changeset, or nowhere.
        mutating func resolveLinks() {
            for (reference, columns) in links {
                for (column, key) in columns {
                    guard var row = row(reference) else { continue }
                    let target = ObjectReference(classIndex: SimulatedSchema.item, key: key)
                    let exists = key != .null && self.row(target) != nil
                    if !exists, key != .null { oracle.hit(.linkDropped) }
                    let value = exists ? key : .null
                    if row[column] != value {
                        row[column] = value
                        oracle.state[reference] = .some(row)
                    }
                }
            }
        }

        func count(_ instruction: Instruction, _ others: [Deed]) {
            guard instruction.reference.classIndex == SimulatedSchema.item else { return }
            let mine: Int =
                switch instruction {
                case .create: 0
                case .set: 1
                case .add: 2
                case .erase: 3
                }
            for deed in others {
                if base.running.contains(deed.xid) { oracle.hit(.lateCommit) }
                let kind: Int =
                    if deed.kind == .set,
                        deed.marks.values.contains(where: { if case .add = $0 { true } else { false } })
                    { Kind.add.rawValue } else { deed.kind.rawValue }
                oracle.hit(Oracle.pairs[mine * 4 + kind])
            }
        }
    }

    private static let pairs: [CoveragePoint] = [
        .createOnCreate, .createOnSet, .createOnAdd, .createOnErase, .setOnCreate, .setOnSet, .setOnAdd, .setOnErase,
        .addOnCreate, .addOnSet, .addOnAdd, .addOnErase, .eraseOnCreate, .eraseOnSet, .eraseOnAdd, .eraseOnErase,
    ]
}
