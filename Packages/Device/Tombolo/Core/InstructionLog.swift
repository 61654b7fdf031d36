internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// Instructions in order, encoded as they're queued. Several sets of one object are merged.
struct InstructionLog {
    private var writer: ChangesetWriter
    /// The last instruction. It isn't encoded yet, because the next set is usually of the same object.
    private var last: Instruction?
    /// The entries of the encoded instructions.
    private var objects: [Entry] = []
    /// For each object, the position of the create or set that can still take more of the object's fields. Built when
    /// first needed: transactions that only create objects don't need it.
    private var open: [ObjectReference: Int]?

    private struct Entry {
        let reference: ObjectReference
        /// False if a later set must come after other instructions.
        let isJoinable: Bool
    }

    init(schema: Schema) { writer = ChangesetWriter(schema: schema) }

    mutating func append(_ instruction: Instruction) {
        if case .set(let reference, let fields) = instruction, join(fields, to: reference) { return }
        writeLast()
        last = instruction
    }

    /// The changeset of everything so far, or nil if it's empty.
    mutating func finish() -> ChangesetWriter? {
        writeLast()
        return objects.isEmpty ? nil : writer
    }

    private mutating func writeLast() {
        guard let last else { return }
        let entry = Entry(reference: last.reference, isJoinable: last.fields != nil)
        if open != nil { open?[entry.reference] = entry.isJoinable ? objects.count : nil }
        objects.append(entry)
        writer.append(last)
        self.last = nil
    }

    /// - Returns: false if there's no earlier instruction that can take the fields.
    private mutating func join(_ fields: [FieldWrite], to reference: ObjectReference) -> Bool {
        if let last, last.reference == reference {
            guard let joined = last.joined(fields) else { return false }
            self.last = joined
            return true
        }
        guard !objects.isEmpty, let position = position(of: reference),
            let joined = writer.instruction(at: position)?.joined(fields)
        else { return false }
        writer.replace(at: position, with: joined)
        return true
    }

    private mutating func position(of reference: ObjectReference) -> Int? {
        if open == nil {
            var open: [ObjectReference: Int] = [:]
            open.reserveCapacity(objects.count)
            for (position, entry) in objects.enumerated() {
                open[entry.reference] = entry.isJoinable ? position : nil
            }
            self.open = open
        }
        return open?[reference]
    }
}

extension Instruction {
    /// The fields of a create or set.
    fileprivate var fields: [FieldWrite]? {
        switch self {
        case .create(_, let fields), .set(_, let fields): fields
        case .add, .erase: nil
        }
    }

    /// The instruction including fields that were set later, or nil if it can't take them.
    fileprivate func joined(_ later: [FieldWrite]) -> Instruction? {
        guard var fields else { return nil }
        for field in later {
            if let index = fields.firstIndex(where: { $0.column == field.column }) {
                fields[index] = field
            } else {
                fields.append(field)
            }
        }
        return if case .create = self { .create(reference, fields) } else { .set(reference, fields) }
    }
}
