public import TomboloModel

/// Decides what changesets do to the server's rows: a pure function of the rows, the changelog since each changeset's
/// base, and the stamps. One arbiter serves one group of changesets in order, so that later ones see what earlier ones
/// did.
///
/// Rules (the suites of `ArbiterFixture` have a test for each):
/// - Everything that a changeset's base sees happened before it, and so did the same client's earlier changesets,
///   whatever the clocks say. Only other entries are concurrent.
/// - When concurrent writes compete for a column, the later stamp wins. On equal stamps the greater client id wins, and
///   plain SQL beats clients. An explicit value beats a default.
/// - A default replaces only an earlier default that the device couldn't know of: an object keeps its values when a
///   device creates it again.
/// - Additions count in any order; a later set discards them.
/// - A concurrent erase wins over all of the changeset's instructions on that object. A create whose base sees the
///   erase makes a new object.
/// - A link to an object that doesn't exist becomes nil; a list element whose target doesn't exist is dropped. If a
///   later instruction creates the target, the element is moved behind it (``InstructionOrder``). An erase ends every
///   link to the object, even one set by the same changeset, and creating the object again doesn't restore it. The
///   trash keeps links.
/// - Writes that aren't permitted or aren't possible are refused instruction by instruction: ``RefusedInstructions`` are left
///   out, and the rest of the changeset is decided again. If the final state of an object is forbidden, its instructions are
///   tried in order, a `set` field by field, and each one that would make the object forbidden is refused.
/// - An object that the client's user can't read is treated as missing, and so are its list elements and the elements of
///   lists that the user can't read: edits and erases do nothing. A create of such an object is decided like the create of a
///   new one; if that is permitted, it's refused because the key is taken. Links to such an object are kept.
/// - Permission is checked for every life of an object within the changeset, including one that begins and ends there. An
///   object in the trash that a create replaces also needs the permission to restore, unless the changeset itself put it
///   there. A refusal for any other reason that depends on rows is reported only to users who may write the object.
public struct Arbiter: Sendable {
    /// The schema that class and column positions in changesets, rows and log entries refer to.
    public let schema: Schema
    /// What can be checked without rows.
    public let check: ChangesetCheck
    /// Whether consecutive additions to one object become one write. If not, each write has one instruction, so that an
    /// error of the database says which it was.
    public var sumsAdditions = true
    /// By class position.
    let classes: [ArbitratedClass]
    var rows = UndoableDictionary<ObjectReference, Row>()
    var trash = UndoableDictionary<ObjectReference, Row>()
    var log: [ObjectReference: [LogEntry]] = [:]
    /// Objects for which later changesets need the log entries of this group; nil for all objects.
    var repeated: Set<ObjectReference>?
    /// For each target, the columns that link to it or did so before. Stale entries do no harm.
    var referrers: [ObjectReference: [Field]] = [:]

    /// How many times a changeset is decided. Each refusal causes another round; if the last round still refuses
    /// something, the whole changeset is refused.
    public static let maximumRoundCount = 8

    /// One column of one object.
    struct Field: Hashable {
        let reference: ObjectReference
        let column: Int
    }

    /// An arbiter for one group of changesets, with nothing loaded.
    public init(schema: Schema) {
        self.schema = schema
        check = ChangesetCheck(schema: schema)
        classes = ArbitratedClass.classes(of: schema)
    }

    /// Announces the group before its changesets are loaded, so that less has to be kept.
    /// - Parameters:
    ///   - objectCount: about how many objects the group writes.
    ///   - repeated: objects that more than one instruction writes, from ``collectReferences(of:_:_:_:)``. For all
    ///     others, no log entries of the group itself are kept.
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

    mutating func note(_ field: Field, linksTo target: ObjectReference) {
        referrers[target, default: []].append(field)
    }

    /// Loads the row of an object in the trash. Devices don't see it, but a create with its key takes it over.
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

    /// Collects the references of several changesets: adds to the objects that they write, the objects that they link
    /// to (which they may write as well), and the objects that several instructions write.
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
    ///   - base: the transactions that the changeset's base tick contains.
    ///   - permit: returns why a write is not permitted, or nil.
    ///   - sees: whether the client's user could read an object before the changeset, given its class and row. For an
    ///     element class, the row is that of the object that owns the list.
    ///   - refused: what has already been refused.
    ///   - isChecked: whether `refused` already includes everything that ``check`` finds invalid.
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
            // Only list elements can be held back.
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

    /// Moves the state into an attempt, which hands it back. This avoids a copy, however many changesets a group has.
    private mutating func handOver() -> Arbiter {
        let state = self
        self = empty
        return state
    }

    /// An arbiter for the same schema with nothing loaded.
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

    /// The existing objects and elements that the instructions write, or to whose lists they add elements, and that the
    /// user can't read.
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
        /// The instructions on `reference` together aren't permitted. To the app they are a write to `object`: the same
        /// object, or the one that owns the list.
        case denied(ObjectReference, object: ObjectReference, WriteDenial)
        /// The instruction at a position can't be carried out.
        case impossible(position: Int, Refusal)
    }
}
