public import TomboloModel

/// Checks that can refuse a changeset before any row is read or locked.
public struct ChangesetCheck: Sendable {
    private let schema: Schema
    /// The greatest number of columns that any class has.
    private let columnCount: Int
    /// By class: quick checks that nearly all keys and values pass.
    private let common: [CommonChecks]

    private struct CommonChecks {
        /// Nil for a class that isn't synchronised.
        let key: ColumnCheck?
        let keyIndex: Int?
        let columns: [ColumnCheck]

        init(_ item: ClassSchema) {
            key = item.primaryKey.map { ColumnCheck($0) }
            keyIndex = item.primaryKeyIndex
            columns = item.columns.map { ColumnCheck($0) }
        }
    }

    /// Checks against the server's schema. One instance serves any number of changesets.
    public init(schema: Schema) {
        self.schema = schema
        columnCount = schema.classes.reduce(0) { max($0, $1.columns.count) }
        common = schema.classes.map { CommonChecks($0) }
    }

    /// Whether every class, key and column exists, so that later steps can name them all.
    public func isReadable(_ changeset: Changeset) -> Bool {
        changeset.instructions.allSatisfy { instruction in
            let reference = instruction.reference
            guard schema.classes.indices.contains(reference.classIndex),
                let key = common[reference.classIndex].key
            else { return false }
            if !key.passes(reference.key) {
                guard let column = schema[reference.classIndex].primaryKey,
                    (try? column.validate(reference.key)) != nil
                else { return false }
            }
            let columns = common[reference.classIndex].columns
            switch instruction {
            case .create(_, let fields), .set(_, let fields):
                return fields.allSatisfy { columns.indices.contains($0.column) }
            case .add(_, let column, _): return columns.indices.contains(column)
            case .erase: return true
            }
        }
    }

    // MARK: Content

    /// Refuses the instructions that are wrong whatever the rows are: checks classes, columns, keys and values against
    /// the schema and refuses with the code ``Refusal/Code/invalid``. In a `set`, refuses only the wrong fields.
    /// ``Arbiter`` runs this check too.
    public func refuseInvalid(in changeset: Changeset, _ refused: inout RefusedInstructions) {
        if let defect = changeset.defect { refused.refuseEverything(of: changeset, defect.refusal) }
        // For each column, the position of the last instruction that named it.
        var namedBy = Array(repeating: -1, count: columnCount)
        let (instructions, positions) = refused.remaining(of: changeset, in: schema)
        for (position, instruction) in zip(positions, instructions) {
            do throws(Refusal) {
                try requireValid(instruction, at: position, &namedBy)
            } catch {
                guard case .set(let reference, let fields) = instruction, let item = try? item(of: reference),
                    case let valid = fields.filter({ (try? requireValid($0, of: reference, item)) != nil }),
                    !valid.isEmpty, valid.count < fields.count, Set(valid.map(\.column)).count == valid.count
                else {
                    refused.refuse(at: position, error)
                    continue
                }
                refused.reduce(at: position, to: .set(reference, valid), error)
            }
        }
        refuseRepeated(instructions, positions, &refused)
    }

    /// Refuses all instructions on an object that has more than ``Changeset/maximumCountOfObject``.
    private func refuseRepeated(
        _ instructions: [Instruction], _ positions: [Int], _ refused: inout RefusedInstructions
    ) {
        let limit = Changeset.maximumCountOfObject
        guard instructions.count > limit.erases else { return }
        let mayExceedBoth = instructions.count > limit.instructions
        var counts: [ObjectReference: (erases: Int, instructions: Int)] = [:]
        // The objects whose last instruction is an addition.
        var summed: Set<ObjectReference> = []
        for instruction in instructions {
            let reference = instruction.reference
            var isErase = false
            switch instruction {
            case .erase: isErase = true
            case .add(_, let column, _) where isSummable(column, of: reference):
                guard mayExceedBoth, summed.insert(reference).inserted else { continue }
                counts[reference, default: (0, 0)].instructions += 1
                continue
            case .create, .set, .add: break
            }
            guard isErase || mayExceedBoth else { continue }
            counts[reference, default: (0, 0)].instructions += 1
            if isErase { counts[reference]?.erases += 1 }
            if !summed.isEmpty { summed.remove(reference) }
        }
        let repeated = counts.filter { $0.value.erases > limit.erases || $0.value.instructions > limit.instructions }
        guard !repeated.isEmpty else { return }
        for (position, instruction) in zip(positions, instructions) {
            let reference = instruction.reference
            guard let count = repeated[reference], schema.classes.indices.contains(reference.classIndex) else {
                continue
            }
            let name = schema[reference.classIndex].name
            let what =
                count.erases > limit.erases
                ? "deletes the same \(name) more than \(limit.erases)"
                : "writes the same \(name) more than \(limit.instructions)"
            refused.refuse(at: position, invalid("One transaction \(what) times. Use several.", reference))
        }
    }

    /// Whether additions to a column can be written as one, earlier than the last of them. Not if two objects mustn't
    /// have the same value, because another object may have the sum until then.
    func isSummable(_ column: Int, of reference: ObjectReference) -> Bool {
        guard schema.classes.indices.contains(reference.classIndex) else { return false }
        return !schema[reference.classIndex].uniqueColumns.contains { $0.contains(column) }
    }

    private func requireValid(
        _ instruction: Instruction, at position: Int, _ namedBy: inout [Int]
    ) throws(Refusal) {
        if isOrdinary(instruction, at: position, &namedBy) { return }
        let reference = instruction.reference
        let item = try item(of: reference)
        switch instruction {
        case .create(_, let fields), .set(_, let fields):
            for field in fields {
                try requireValid(field, of: reference, item)
                guard namedBy[field.column] != position else {
                    throw invalid(
                        "One instruction writes \(item.name).\(item.columns[field.column].name) twice.", reference)
                }
                namedBy[field.column] = position
            }
        case .add(_, let column, _):
            guard item.columns.indices.contains(column), case .int = item.columns[column].type,
                column != item.primaryKeyIndex
            else {
                throw invalid("Only an integer property that isn't the primary key can be incremented.", reference)
            }
        case .erase: break
        }
    }

    /// Whether the quick checks prove an instruction valid. If not, the columns decide and give the reason.
    private func isOrdinary(_ instruction: Instruction, at position: Int, _ namedBy: inout [Int]) -> Bool {
        let reference = instruction.reference
        guard common.indices.contains(reference.classIndex) else { return false }
        let checks = common[reference.classIndex]
        guard let key = checks.key, key.passes(reference.key) else { return false }
        switch instruction {
        case .create(_, let fields), .set(_, let fields):
            for field in fields {
                guard checks.columns.indices.contains(field.column), field.column != checks.keyIndex,
                    checks.columns[field.column].passes(field.value)
                else { return false }
            }
            for (index, field) in fields.enumerated() {
                guard namedBy[field.column] != position else {
                    for field in fields[..<index] { namedBy[field.column] = -1 }
                    return false
                }
                namedBy[field.column] = position
            }
            return true
        case .erase: return true
        case .add: return false
        }
    }

    private func item(of reference: ObjectReference) throws(Refusal) -> ClassSchema {
        guard schema.classes.indices.contains(reference.classIndex) else {
            throw Refusal(.invalid, "The changeset names a class that the server doesn't have.")
        }
        let item = schema[reference.classIndex]
        guard let key = item.primaryKey else {
            throw Refusal(.invalid, "\(item.name) has no primary key and isn't synchronised.")
        }
        do {
            try key.validate(reference.key)
        } catch {
            throw Refusal(.invalid, "The key of a \(item.name): \(error.message)")
        }
        return item
    }

    /// Checks one field. A primary key may be written only with the value it has, because permissions and locks apply
    /// to the object that the changeset names.
    func requireValid(_ field: FieldWrite, of reference: ObjectReference, _ item: ClassSchema) throws(Refusal) {
        guard item.columns.indices.contains(field.column) else {
            throw invalid("\(item.name) has no column \(field.column).", reference)
        }
        let column = item.columns[field.column]
        do {
            try column.validate(field.value, linkKeyType: schema.keyType(ofLink: column))
        } catch {
            throw invalid("\(item.name): \(error.message)", reference)
        }
        guard field.column != item.primaryKeyIndex || field.value == reference.key else {
            throw invalid(
                "\(item.name).\(column.name) is the primary key but isn't the object's key: "
                    + "erase the object and create another.", reference)
        }
    }

    private func invalid(_ message: String, _ reference: ObjectReference) -> Refusal {
        Refusal(.invalid, message, className: schema[reference.classIndex].name, key: reference.key)
    }

    // MARK: Permission

    private typealias Denials = [WriteRequest.Operation: WriteDenial]

    /// Refuses writes that aren't permitted for any object of a class, so that no user locks rows that they may never
    /// write. Writes that are permitted for some objects are left to ``Arbiter``, which sees the rows.
    /// - Parameter denial: why an operation isn't permitted for any object of the class at a position, or nil if it's
    ///   permitted for some.
    public func refuseDenied(
        in changeset: Changeset, denial: (WriteRequest.Operation, Int) -> WriteDenial?,
        _ refused: inout RefusedInstructions
    ) {
        let (instructions, positions) = refused.remaining(of: changeset, in: schema)
        var denials: [Int: Denials] = [:]
        var classes: Set<Int> = []
        var last: Int?
        for instruction in instructions where instruction.reference.classIndex != last {
            last = instruction.reference.classIndex
            classes.insert(instruction.reference.classIndex)
        }
        for root in Set(classes.map { schema.rootClassIndex(of: $0) }) {
            for operation in [WriteRequest.Operation.create, .update, .delete] {
                if let reason = denial(operation, root) { denials[root, default: [:]][operation] = reason }
            }
        }
        guard !denials.isEmpty else { return }
        var created: Set<ObjectReference> = []
        var erased: Set<ObjectReference> = []
        for instruction in instructions {
            if case .create = instruction { created.insert(instruction.reference) }
            if case .erase = instruction { erased.insert(instruction.reference) }
        }
        var written: Set<Int> = []
        for (position, instruction) in zip(positions, instructions) {
            let reference = instruction.reference
            guard schema[reference.classIndex].owner == nil else { continue }
            if let reason = reason(
                instruction, isCreated: created.contains(reference), isErased: erased.contains(reference),
                denials[reference.classIndex])
            {
                refused.refuse(at: position, refusal(reason, reference))
            } else {
                written.insert(reference.classIndex)
            }
        }
        for (position, instruction) in zip(positions, instructions) {
            let reference = instruction.reference
            let root = schema.rootClassIndex(of: reference.classIndex)
            // If the changeset writes an object of the class that owns the list, the permissions of that write decide.
            guard root != reference.classIndex, !written.contains(root), let reason = denials[root]?[.update] else {
                continue
            }
            refused.refuse(at: position, refusal(reason, reference))
        }
    }

    /// Why an instruction is denied, or nil if the current row may allow it. A create makes an object or edits the
    /// existing one. The changeset may edit and erase objects that it creates, and edit objects before it erases them.
    private func reason(
        _ instruction: Instruction, isCreated: Bool, isErased: Bool, _ denied: Denials?
    ) -> WriteDenial? {
        guard let denied else { return nil }
        let present: WriteDenial? =
            if case .erase = instruction { denied[.delete] } else if isErased, denied[.delete] == nil { nil } else {
                denied[.update]
            }
        guard isCreated else { return present }
        return present == nil ? nil : denied[.create]
    }

    private func refusal(_ denial: WriteDenial, _ reference: ObjectReference) -> Refusal {
        Refusal(
            .notPermitted, denial.reason, className: schema[reference.classIndex].name, key: reference.key,
            role: denial.role)
    }
}
