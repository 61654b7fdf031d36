public import TomboloModel

/// Decides what changesets do to the server's rows: a pure function of the rows, the changelog since each changeset's
/// base, and the stamps. One arbiter serves one group of changesets in order, so that later ones see what earlier ones
/// did.
///
/// Rules (ArbiterTests has a test for each):
/// - Whatever a changeset's base sees happened before it, as did the same client's earlier changesets, whatever the
///   clocks say. Only other entries are concurrent.
/// - Of concurrent writes to one column the later stamp wins; the greater client id breaks ties, plain SQL beats
///   clients; an explicit value beats a default.
/// - A default replaces only an earlier default that the device couldn't know of: an object keeps its values when a
///   device creates it again.
/// - Additions count in any order; a later set discards them.
/// - A concurrent erase wins over all of the changeset's instructions on that object. A create whose base sees the
///   erase makes a new object.
/// - A link to an object that doesn't exist becomes nil; a list element whose target doesn't exist is dropped. If a
///   later instruction creates the target, the element is moved behind it (``InstructionOrder``). An erase ends every
///   link to the object, even one set by the same changeset, and creating the object again doesn't restore it. The
///   trash keeps links.
/// - What isn't permitted or impossible is refused, instruction by instruction: ``RefusedInstructions`` are left out, and
///   the rest of the changeset is decided anew. Of an object that may not be written as the changeset would leave it, the
///   instructions are taken in order, and of a `set` each field; one that would make the object forbidden is refused.
/// - An object that the client's user may not read is written like one that doesn't exist, and so are the elements of its
///   lists and of lists that may not be read: edits and erases do nothing. A create of one is decided like that of a new
///   object; if it's permitted, it's refused because the key is taken. Links to such an object are kept.
/// - Permission is asked for every life of an object within the changeset, including one that begins and ends there,
///   and for an object in the trash that a create replaces: to restore it too, unless the changeset itself put it there.
///   What else is wrong, and depends on rows, is told only to
///   whoever has it.
public struct Arbiter: Sendable {
    /// The schema that class and column positions in changesets, rows and log entries refer to.
    public let schema: Schema
    /// What can be checked without rows.
    public let check: ChangesetCheck
    /// By position.
    private let classes: [ArbitratedClass]
    var rows = UndoableDictionary<ObjectReference, Row>()
    var trash = UndoableDictionary<ObjectReference, Row>()
    var log: [ObjectReference: [LogEntry]] = [:]
    /// Objects whose own entries later changesets need; nil for all.
    private var repeated: Set<ObjectReference>?
    /// For each target, the columns that link to it now or did before; others do no harm.
    private var referrers: [ObjectReference: [Field]] = [:]

    /// How often a changeset is decided anew because something of it was refused. What is then still refused is
    /// refused with all the rest.
    public static let maximumRoundCount = 8

    /// One column of one object.
    private struct Field: Hashable {
        let reference: ObjectReference
        let column: Int
    }

    /// An arbiter for one group of changesets, with nothing loaded.
    public init(schema: Schema) {
        self.schema = schema
        check = ChangesetCheck(schema: schema)
        classes = ArbitratedClass.classes(of: schema)
    }

    /// What is known before a group's changesets are loaded, so that less has to be kept.
    /// - Parameters:
    ///   - objectCount: about how many objects they write.
    ///   - repeated: objects that more than one instruction writes, from ``collectReferences(of:_:_:_:)``. Nobody asks what
    ///     the group has done to the others.
    public mutating func expect(objectCount: Int, repeated: Set<ObjectReference>) {
        rows.reserveCapacity(objectCount)
        self.repeated = repeated
    }

    /// Loads the current row of an object named by ``references(of:)``, or nil if it doesn't exist.
    public mutating func load(_ reference: ObjectReference, _ row: Row?) {
        rows[reference] = row
        guard let row else { return }
        let item = classes[reference.classIndex]
        for column in item.linkColumns {
            if let target = item.link(column, row[column]) {
                note(Field(reference: reference, column: column), linksTo: target)
            }
        }
    }

    private mutating func note(_ field: Field, linksTo target: ObjectReference) {
        referrers[target, default: []].append(field)
    }

    /// Loads the row of an object in the trash. Devices don't see it, but a create takes the row over.
    public mutating func load(_ reference: ObjectReference, trashed row: Row) { trash[reference] = row }

    /// Loads changelog entries of a referenced object, oldest first.
    public mutating func load(_ entry: LogEntry) { log[entry.reference, default: []].append(entry) }

    /// The objects that a changeset writes, and those that it only links to.
    public func references(of changeset: Changeset) -> (written: Set<ObjectReference>, linked: Set<ObjectReference>) {
        var written: Set<ObjectReference> = []
        var linked: Set<ObjectReference> = []
        var repeated: Set<ObjectReference> = []
        collectReferences(of: changeset, &written, &linked, &repeated)
        return (written, linked.subtracting(written))
    }

    /// The same of several changesets: adds to what they write, to what they link to, which they may write as well, and to
    /// what several instructions write.
    public func collectReferences(
        of changeset: Changeset, _ written: inout Set<ObjectReference>, _ linked: inout Set<ObjectReference>,
        _ repeated: inout Set<ObjectReference>
    ) {
        for instruction in changeset.instructions {
            if !written.insert(instruction.reference).inserted { repeated.insert(instruction.reference) }
            switch instruction {
            case .create(let reference, let fields), .set(let reference, let fields):
                let item = classes[reference.classIndex]
                guard !item.linkColumns.isEmpty else { continue }
                for field in fields {
                    if let target = item.link(field.column, field.value) { linked.insert(target) }
                }
            case .add, .erase: break
            }
        }
    }

    /// The object whose permissions apply to a list element, or nil if `reference` isn't a list element.
    public func owner(of reference: ObjectReference, row: Row) -> ObjectReference? {
        let item = classes[reference.classIndex]
        guard item.isElement else { return nil }
        return ObjectReference(classIndex: item.rootIndex, key: row[ElementColumn.owner])
    }

    /// Applies one changeset to the loaded state.
    /// - Parameters:
    ///   - stamp: the changeset's stamp, clamped by the caller.
    ///   - base: what the changeset's base tick sees.
    ///   - permit: returns why a write is not permitted, or nil.
    ///   - sees: whether the client's user may read an object before the changeset: of a class, with its row. For an
    ///     element class, the row of the object that has the list.
    ///   - refused: what has been refused before.
    ///   - isChecked: whether `refused` has what ``check`` finds to be invalid.
    public mutating func apply(
        _ changeset: Changeset, from client: ClientID, stamp: Stamp, base: Snapshot,
        permit: (WriteRequest) -> WriteDenial?, sees: (_ classIndex: Int, Row) -> Bool = { _, _ in true },
        without refused: RefusedInstructions = RefusedInstructions(), isChecked: Bool = false
    ) -> Arbitration {
        var refused = refused
        if !isChecked { check.refuseInvalid(in: changeset, &refused) }
        var narrowing = Narrowing()
        for round in 1...Self.maximumRoundCount {
            let (instructions, positions) = refused.remaining(of: changeset, in: schema)
            let hidden = unseen(by: instructions, sees)
            // Only elements may have to wait.
            let order =
                instructions.contains { classes[$0.reference.classIndex].isElement }
                ? InstructionOrder.targetsFirst(instructions, schema: schema) { [rows] in rows[$0] != nil }
                : Array(instructions.indices)
            var attempt = Attempt(
                arbiter: handOver(), client: client, stamp: stamp, base: base, hidden: hidden,
                instructionCount: instructions.count)
            for index in order { attempt.perform(instructions[index], at: positions[index]) }
            attempt.setDeferredLinks()
            let objections = attempt.objections(permit)
            guard let last = objections.last else {
                self = attempt.finish()
                return Arbitration(
                    writes: attempt.writes, positions: attempt.positions, lost: attempt.lost, refused: refused)
            }
            let tried = attempt
            self = attempt.takeBack()
            guard round < Self.maximumRoundCount else {
                refused.refuseEverything(of: changeset, refusal(last))
                break
            }
            narrowing.refuse(objections, of: tried, from: self, instructions, positions, permit, &refused)
        }
        return Arbitration(refused: refused)
    }

    /// The state for an attempt, which gives it back: so nothing of it is copied, however many changesets a group has.
    private mutating func handOver() -> Arbiter {
        let state = self
        self = empty
        return state
    }

    /// An arbiter for the same schema that knows nothing.
    var empty: Arbiter { Arbiter(schema, check, classes) }

    private init(_ schema: Schema, _ check: ChangesetCheck, _ classes: [ArbitratedClass]) {
        self.schema = schema
        self.check = check
        self.classes = classes
    }

    func refusal(_ objection: Objection) -> Refusal {
        switch objection {
        case .impossible(_, let refusal): refusal
        case .denied(_, let object, let denial): refusal(denial, object)
        }
    }

    func refusal(_ denial: WriteDenial, _ object: ObjectReference) -> Refusal {
        Refusal(
            .notPermitted, denial.reason, className: schema[object.classIndex].name, key: object.key, role: denial.role)
    }

    /// The objects and elements that exist, that instructions write or add elements to, and that their user may not read.
    private func unseen(by instructions: [Instruction], _ sees: (Int, Row) -> Bool) -> Set<ObjectReference> {
        var result: Set<ObjectReference> = []
        for instruction in instructions {
            let reference = instruction.reference
            if let row = rows[reference], !result.contains(reference),
                let root = rows[owner(of: reference, row: row) ?? reference], !sees(reference.classIndex, root)
            {
                result.insert(reference)
            }
            let item = classes[reference.classIndex]
            guard item.isElement, case .create(_, let fields) = instruction,
                let key = fields.last(where: { $0.column == ElementColumn.owner })?.value
            else { continue }
            let owner = ObjectReference(classIndex: item.rootIndex, key: key)
            if let row = rows[owner], !sees(owner.classIndex, row) { result.insert(owner) }
        }
        return result
    }
}

extension Arbiter {
    /// Why a changeset can't be applied as it is.
    enum Objection {
        /// The instructions on `reference` together aren't permitted; the app knows them as a write to `object`, the same
        /// or the object that has the list.
        case denied(ObjectReference, object: ObjectReference, WriteDenial)
        /// The instruction at a position can't be carried out.
        case impossible(position: Int, Refusal)
    }

    /// One changeset under way.
    struct Attempt {
        var arbiter: Arbiter
        let client: ClientID
        let stamp: Stamp
        let base: Snapshot
        /// What the user may not read.
        let hidden: Set<ObjectReference>
        /// What of it counts as missing.
        private var unseen: Set<ObjectReference>
        private(set) var writes: [RowWrite] = []
        /// The position of the instruction that each write comes from.
        private(set) var positions: [Int] = []
        /// The position of the instruction under way.
        private var position = 0
        private(set) var lost = 0
        /// By object, made when the first instruction on it comes.
        private var concurrentWrites: [ObjectReference: ConcurrentWrites] = [:]
        /// What foreign keys did.
        private var consequences: [LogEntry] = []
        /// For permissions: the lives within the changeset of every object that an instruction named.
        var lives: [ObjectReference: [ObjectLife]] = [:]
        var touched: [ObjectReference] = []
        /// The columns that the changeset writes in rows that were there, by object. Defaults that replace nothing don't
        /// count.
        var written: [ObjectReference: Set<Int>] = [:]
        /// Instructions that can't be carried out, by position, with their objects. Whoever may write the object is told
        /// why: it says something about rows.
        private var impossible: [(position: Int, reference: ObjectReference, refusal: Refusal)] = []
        /// Links to objects that a later instruction of the changeset may create, in order.
        private var deferredLinks: [(from: Field, to: ObjectReference, position: Int)] = []
        /// Position in ``deferredLinks`` of a column's link, unless the column was written since.
        private var deferral: [Field: Int] = [:]
        /// Positions in ``deferredLinks`` of the links to an object since its last erase.
        var deferralsTo: [ObjectReference: [Int]] = [:]
        /// The referrers of objects that were erased.
        private var endedReferrers: [ObjectReference: [Field]] = [:]
        /// Columns set by default, as the last object that was created had them: most are like the one before.
        private var lastDefaults: (isDefault: [Bool], columns: Set<Int>) = ([], [])

        /// - Parameter instructionCount: of how many instructions the changeset is, about.
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

        /// The log gets the changeset's own entries only when it is finished.
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

        /// Removes a row, keeping what permission checks need.
        mutating func remove(_ reference: ObjectReference) {
            guard let row = arbiter.rows.take(reference) else { return }
            guard let count = lives[reference]?.count, count > 0 else { return }
            lives[reference]?[count - 1].end(row)
        }

        private mutating func write(_ write: RowWrite, at position: Int? = nil) {
            writes.append(write)
            positions.append(position ?? self.position)
        }

        mutating func perform(_ instruction: Instruction, at position: Int) {
            self.position = position
            let reference = instruction.reference
            let item = arbiter.classes[reference.classIndex]
            let concurrent = concurrentWrites(to: reference)
            if concurrent.isErased {
                lost += 1
                return
            }
            guard !unseen.contains(reference) else { return performUnseen(instruction, item) }
            touch(reference)
            switch instruction {
            case .create(_, let fields):
                if arbiter.rows[reference] != nil {
                    merge(fields, into: reference, item, concurrent)
                } else {
                    insert(fields, as: reference, item)
                }
            case .set(_, let fields):
                guard arbiter.rows[reference] != nil else {
                    lost += fields.count
                    return
                }
                merge(fields, into: reference, item, concurrent)
            case .add(_, let column, let amount):
                add(amount, to: reference, column, item, concurrent)
            case .erase:
                guard let row = arbiter.rows[reference] else { return }
                remove(reference)
                if item.isTrashable { arbiter.trash[reference] = row }
                unlink(reference)
                write(.erase(reference))
            }
        }

        /// Does what would be done if the object didn't exist.
        mutating func performUnseen(_ instruction: Instruction, _ item: ArbitratedClass) {
            let reference = instruction.reference
            switch instruction {
            case .create(_, let fields):
                let row = arbiter.rows.take(reference)
                touch(reference)
                insert(fields, as: reference, item)
                guard arbiter.rows[reference] != nil else {
                    arbiter.rows[reference] = row
                    return
                }
                // From here on it's the new object, which is never written: the key is taken.
                unseen.remove(reference)
                refuse("There is another \(item.item.name) with this primary key.", item, reference, .constraint)
            case .set(_, let fields): lost += fields.count
            case .add: lost += 1
            case .erase: break
            }
        }

        /// Repeats on the loaded rows what the database's foreign keys do when an object is deleted. The changelog
        /// records it too.
        mutating func unlink(_ target: ObjectReference) {
            var waiting = [target]
            while let target = waiting.popLast() {
                endDeferredLinks(to: target)
                let referrers = arbiter.referrers.removeValue(forKey: target) ?? []
                endedReferrers[target, default: []] += referrers
                for field in referrers {
                    let (reference, index) = (field.reference, field.column)
                    guard arbiter.rows[reference]?[index] == target.key else { continue }
                    let column = arbiter.schema[reference.classIndex].columns[index]
                    let isNullified = column.isOptional && column.deleteRule == .nullify
                    if isNullified {
                        arbiter.rows[reference]?[index] = .null
                    } else {
                        remove(reference)
                        waiting.append(reference)
                    }
                    consequences.append(
                        LogEntry(
                            reference: reference, operation: isNullified ? .update : .erase,
                            marks: isNullified ? [index: .set] : [:], xid: .max, stamp: stamp, client: client))
                }
            }
        }

        /// Deferred links lead to the object being erased, not to a new one with its key. An object in the trash is
        /// still a row and keeps the links to it.
        mutating func endDeferredLinks(to target: ObjectReference) {
            guard !arbiter.schema[target.classIndex].isTrashable else { return }
            for index in deferralsTo.removeValue(forKey: target) ?? [] {
                let from = deferredLinks[index].from
                if deferral[from] == index { deferral[from] = nil }
            }
        }

        mutating func insert(_ fields: [FieldWrite], as reference: ObjectReference, _ item: ArbitratedClass) {
            var row = item.blank
            var isDefault = Array(repeating: true, count: row.values.count)
            if let key = item.keyIndex {
                row[key] = reference.key
                isDefault[key] = false
            }
            for field in fields where field.column != item.keyIndex {
                row[field.column] = field.value
                isDefault[field.column] = field.isDefault
            }
            if isDefault != lastDefaults.isDefault {
                lastDefaults = (isDefault, Set(isDefault.indices.lazy.filter { isDefault[$0] }))
            }
            let defaults = lastDefaults.columns
            for index in item.linkColumns {
                let from = Field(reference: reference, column: index)
                deferral[from] = nil
                guard let target = item.link(index, row[index]) else { continue }
                let isOwner = item.isElement && index == ElementColumn.owner
                guard arbiter.rows[target] == nil || isOwner && unseen.contains(target), target != reference else {
                    arbiter.note(from, linksTo: target)
                    continue
                }
                guard item.isOptional[index] else {
                    lost += 1
                    return
                }
                postpone(from, linkTo: target)
                row[index] = .null
            }
            let replaced = arbiter.trash.take(reference)
            // What the changeset put into the trash had a life within it.
            let isRestored = replaced != nil && lives[reference]?.isEmpty != false
            lives[reference, default: []].append(
                ObjectLife(old: nil, replaced: replaced, isRestored: isRestored, last: row))
            arbiter.rows[reference] = row
            write(.insert(reference, row, defaults: defaults))
        }

        mutating func refuse(
            _ message: String, _ item: ArbitratedClass, _ reference: ObjectReference, _ code: Refusal.Code = .invalid
        ) {
            object(to: reference, Refusal(code, message, className: item.item.name, key: reference.key))
        }

        private mutating func object(to reference: ObjectReference, _ refusal: Refusal) {
            impossible.append((position, reference, refusal))
        }

        mutating func merge(
            _ fields: [FieldWrite], into reference: ObjectReference, _ item: ArbitratedClass,
            _ concurrent: ConcurrentWrites
        ) {
            guard var row = arbiter.rows[reference] else { return }
            var columns: [ColumnWrite] = []
            for field in fields {
                if item.isElement, field.column == ElementColumn.owner, field.value != row[field.column] {
                    refuse("An element of \(item.item.name) can't move to another object's list.", item, reference)
                    return
                }
                guard field.column != item.keyIndex else { continue }
                if !field.isDefault { written[reference, default: []].insert(field.column) }
                let wins =
                    field.isDefault ? concurrent.letsDefaultReplace(field.column) : !concurrent.beats(field.column)
                guard wins else {
                    lost += 1
                    continue
                }
                written[reference, default: []].insert(field.column)
                var value = field.value
                let from = Field(reference: reference, column: field.column)
                if !deferral.isEmpty { deferral[from] = nil }
                if let target = item.link(field.column, value) {
                    if arbiter.rows[target] != nil {
                        arbiter.note(from, linksTo: target)
                    } else if item.isOptional[field.column] {
                        postpone(from, linkTo: target)
                        value = .null
                    } else {
                        lost += 1
                        continue
                    }
                }
                if case .int(let number) = value {
                    value = .int(number &+ concurrent.additions(to: field.column))
                }
                row[field.column] = value
                columns.append(
                    ColumnWrite(column: field.column, value: value, mark: field.isDefault ? .byDefault : .set))
            }
            guard !columns.isEmpty else { return }
            arbiter.rows[reference] = row
            write(.update(reference, columns))
        }

        mutating func add(
            _ amount: Int64, to reference: ObjectReference, _ column: Int, _ item: ArbitratedClass,
            _ concurrent: ConcurrentWrites
        ) {
            guard var row = arbiter.rows[reference] else {
                lost += 1
                return
            }
            written[reference, default: []].insert(column)
            guard !concurrent.beats(column) else {
                lost += 1
                return
            }
            let current: Int64 = if case .int(let number) = row[column] { number } else { 0 }
            let sum = current.addingReportingOverflow(amount)
            let write = FieldWrite(column: column, value: .int(sum.partialValue))
            guard !sum.overflow else {
                return refuse(
                    "\(item.item.name).\(item.item.columns[column].name) would exceed 64 bits.", item, reference)
            }
            do throws(Refusal) {
                try arbiter.check.requireValid(write, of: reference, item.item)
            } catch {
                object(to: reference, error)
                return
            }
            row[column] = write.value
            arbiter.rows[reference] = row
            self.write(.update(reference, [ColumnWrite(column: column, value: write.value, mark: .add(amount))]))
        }

        private mutating func postpone(_ from: Field, linkTo target: ObjectReference) {
            deferral[from] = deferredLinks.count
            deferralsTo[target, default: []].append(deferredLinks.count)
            deferredLinks.append((from, target, position))
        }

        /// Sets links to objects that a later instruction created; the others stay nil.
        mutating func setDeferredLinks() {
            for (index, (from, target, position)) in deferredLinks.enumerated() where deferral[from] == index {
                let (reference, column) = (from.reference, from.column)
                guard arbiter.rows[target] != nil, var row = arbiter.rows[reference], row[column].isNull else {
                    continue
                }
                row[column] = target.key
                arbiter.note(from, linksTo: target)
                arbiter.rows[reference] = row
                write(
                    .update(reference, [ColumnWrite(column: column, value: target.key, mark: .set)]), at: position)
            }
        }

        /// Asks for every life of every object that the changeset touched.
        func objections(_ permit: (WriteRequest) -> WriteDenial?) -> [Objection] {
            var result: [Objection] = []
            var denied: Set<ObjectReference> = []
            /// What was answered about lists, by the objects that have them.
            var answers: [ObjectReference: WriteDenial?] = [:]
            for reference in touched {
                guard let objection = objection(to: reference, permit, &answers) else { continue }
                denied.insert(reference)
                result.append(objection)
            }
            for item in impossible where !denied.contains(item.reference) {
                result.append(.impossible(position: item.position, item.refusal))
            }
            return result
        }

        private func objection(
            to reference: ObjectReference, _ permit: (WriteRequest) -> WriteDenial?,
            _ answers: inout [ObjectReference: WriteDenial?]
        ) -> Objection? {
            let lives = lives[reference] ?? []
            for (index, var life) in lives.enumerated() {
                if index == lives.count - 1, let row = arbiter.rows[reference] { life.last = row }
                guard let owner = arbiter.owner(of: reference, row: life.last) else {
                    let denial = life.denial(
                        reference.classIndex, isTrashable: arbiter.classes[reference.classIndex].isTrashable,
                        written: written.isEmpty ? [] : written[reference] ?? [], permit)
                    if let denial { return .denied(reference, object: reference, denial) }
                    continue
                }
                // If the changeset writes the list's owner, the owner's own requests decide.
                guard self.lives[owner]?.isEmpty != false else { continue }
                if answers[owner] == nil {
                    // An owner that doesn't exist or is in the trash makes a request without rows, which no rule permits.
                    let row = arbiter.rows[owner]
                    answers[owner] = .some(
                        permit(WriteRequest(operation: .update, classIndex: owner.classIndex, old: row, new: row)))
                }
                if let denial = answers[owner] ?? nil { return .denied(reference, object: owner, denial) }
            }
            return nil
        }

        /// The state after the changeset, with entries for the changesets that follow in the group.
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
