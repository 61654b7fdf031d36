public import TomboloModel

/// The refused part of a changeset, by the positions of its instructions. The rest is applied as if these instructions
/// had never been in it.
///
/// If a changeset erases an object and creates it again, the replacement happens completely or not at all. If the
/// create is refused, the erase isn't applied either, nor are later instructions on the object and its lists. Otherwise
/// a refused replacement would be a deletion.
public struct RefusedInstructions: Sendable {
    /// By position: the instruction to apply instead (a `set` with fewer fields), or nil for nothing.
    private var substitutes: [Int: Instruction?] = [:]
    private var refusals: [Refusal] = []
    private var known: Set<Refusal> = []
    /// The number of refusals beyond ``maximumRefusalCount``.
    private var further = 0
    private var byteCount = 0

    /// The maximum number of refusals that a device is told for one changeset. A summary then says how many more there were.
    public static let maximumRefusalCount = 100
    /// The maximum total size, in bytes, of the refusals that a device is told for one changeset. The summary doesn't
    /// count, nor does the part of the last refusal that exceeds the limit. Receipts keep the refusals until the device
    /// has received them.
    public static let maximumByteCount = 8 << 10

    /// Refuses nothing.
    public init() {}

    public var isEmpty: Bool { known.isEmpty && further == 0 }

    /// What to tell the device: each combination of object and reason once, bounded by ``maximumRefusalCount``, with a
    /// summary of the rest.
    public var told: [Refusal] {
        guard further > 0, let last = refusals.last else { return refusals }
        return refusals + [
            Refusal(last.code, "\(further) more of this transaction's writes were refused, for these or other reasons.")
        ]
    }

    /// Refuses one instruction.
    public mutating func refuse(at position: Int, _ refusal: Refusal) {
        substitutes[position] = .some(nil)
        note(refusal)
    }

    /// Refuses the fields of a `set` that aren't in `remaining`.
    mutating func reduce(at position: Int, to remaining: Instruction, _ refusal: Refusal) {
        substitutes[position] = remaining
        note(refusal)
    }

    /// Refuses a whole changeset.
    public mutating func refuseEverything(of changeset: Changeset, _ refusal: Refusal) {
        for position in changeset.instructions.indices { substitutes[position] = .some(nil) }
        note(refusal)
    }

    /// Refuses a whole changeset and nothing else.
    public static func everything(of changeset: Changeset, _ refusal: Refusal) -> RefusedInstructions {
        var result = RefusedInstructions()
        result.refuseEverything(of: changeset, refusal)
        return result
    }

    private mutating func note(_ refusal: Refusal) {
        guard !known.contains(refusal) else { return }
        guard refusals.count < Self.maximumRefusalCount, byteCount < Self.maximumByteCount else {
            further += 1
            return
        }
        byteCount += refusal.message.utf8.count + (refusal.key?.byteCount ?? 0)
        known.insert(refusal)
        refusals.append(refusal)
    }

    /// The instructions of a changeset that are to be applied, and their positions in it.
    func remaining(of changeset: Changeset, in schema: Schema) -> (instructions: [Instruction], positions: [Int]) {
        let positions = Array(changeset.instructions.indices)
        guard !substitutes.isEmpty else { return (changeset.instructions, positions) }
        let unreplaced = unreplaced(in: changeset, schema)
        var result: (instructions: [Instruction], positions: [Int]) = ([], [])
        for (position, instruction) in changeset.instructions.enumerated() {
            guard !unreplaced.contains(position), let remaining = substitutes[position, default: instruction] else {
                continue
            }
            result.instructions.append(remaining)
            result.positions.append(position)
        }
        return result
    }

    /// The positions of the instructions that belong to replacements whose create is refused: see the type's description.
    private func unreplaced(in changeset: Changeset, _ schema: Schema) -> Set<Int> {
        var created: Set<ObjectReference> = []
        for (position, substitute) in substitutes where substitute == nil {
            if case .create(let reference, _) = changeset.instructions[position] { created.insert(reference) }
        }
        guard !created.isEmpty else { return [] }
        var erases: [ObjectReference: Int] = [:]
        var starts: [ObjectReference: Int] = [:]
        for (position, instruction) in changeset.instructions.enumerated() where created.contains(instruction.reference)
        {
            let reference = instruction.reference
            switch instruction {
            case .erase: erases[reference] = position
            case .create:
                if case .some(nil) = substitutes[position], let erase = erases[reference], starts[reference] == nil {
                    starts[reference] = erase
                }
                erases[reference] = nil
            case .set, .add: break
            }
        }
        guard !starts.isEmpty else { return [] }
        var result: Set<Int> = []
        var elements: Set<ObjectReference> = []
        for (position, instruction) in changeset.instructions.enumerated() {
            let reference = instruction.reference
            if let start = starts[reference], position >= start {
                result.insert(position)
            } else if elements.contains(reference) {
                result.insert(position)
            } else if case .create(_, let fields) = instruction, schema.classes.indices.contains(reference.classIndex),
                schema[reference.classIndex].owner != nil,
                let owner = fields.last(where: { $0.column == ElementColumn.owner })?.value,
                let start = starts[
                    ObjectReference(classIndex: schema.rootClassIndex(of: reference.classIndex), key: owner)],
                position >= start
            {
                elements.insert(reference)
                result.insert(position)
            }
        }
        return result
    }

    /// The changeset as it would be applied if nothing on the object that `refusal` names had been refused.
    public func applied(of changeset: Changeset, restoring refusal: Refusal, schema: Schema) -> Changeset {
        var other = self
        for (position, instruction) in changeset.instructions.enumerated()
        where instruction.reference.key == refusal.key
            && schema[instruction.reference.classIndex].name == refusal.className
        {
            other.substitutes.removeValue(forKey: position)
        }
        return other.applied(of: changeset, in: schema)
    }

    /// The changeset without the refused instructions.
    public func applied(of changeset: Changeset, in schema: Schema) -> Changeset {
        guard !substitutes.isEmpty else { return changeset }
        var result = changeset
        result.instructions = remaining(of: changeset, in: schema).instructions
        return result
    }
}
