public import TomboloModel

/// What of a changeset is refused, by the positions of its instructions. The rest of the changeset is applied as if these
/// had never been in it.
///
/// An object that a changeset erases and creates again is replaced as a whole or not at all: without its creation the erase
/// isn't applied either, nor what follows on the object and its lists. Otherwise a refused replacement would be a deletion.
public struct RefusedInstructions: Sendable {
    /// By position: what is applied in place of the instruction, a `set` with fewer fields, or nil for nothing.
    private var substitutes: [Int: Instruction?] = [:]
    private var refusals: [Refusal] = []
    private var known: Set<Refusal> = []
    /// Refusals beyond ``maximumRefusalCount``.
    private var further = 0
    private var byteCount = 0

    /// The number of objects and reasons that a device is told for one changeset; after them it's told how many there
    /// were besides.
    public static let maximumRefusalCount = 100
    /// The size of what a device is told for one changeset, in bytes, beside the summary and the last refusal that began
    /// before it: receipts keep it until the device has heard of it.
    public static let maximumByteCount = 8 << 10

    /// Nothing is refused.
    public init() {}

    public var isEmpty: Bool { known.isEmpty && further == 0 }

    /// What to tell the device: each object once for each reason, bounded by ``maximumRefusalCount`` and a summary.
    public var told: [Refusal] {
        guard further > 0, let last = refusals.last else { return refusals }
        return refusals + [
            Refusal(last.code, "\(further) more of this transaction's writes were refused, for these or other reasons.")
        ]
    }

    /// Refuses an instruction of a changeset.
    public mutating func refuse(at position: Int, _ refusal: Refusal) {
        substitutes[position] = .some(nil)
        note(refusal)
    }

    /// Refuses the fields that a `set` has and `remaining` has not.
    mutating func reduce(at position: Int, to remaining: Instruction, _ refusal: Refusal) {
        substitutes[position] = remaining
        note(refusal)
    }

    /// Refuses a changeset as a whole.
    public mutating func refuseEverything(of changeset: Changeset, _ refusal: Refusal) {
        for position in changeset.instructions.indices { substitutes[position] = .some(nil) }
        note(refusal)
    }

    /// A changeset refused as a whole.
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

    /// What is to be applied of a changeset, and the position that each instruction has in it.
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

    /// The positions of what belongs to objects that the changeset would replace by others that are refused.
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

    /// The changeset as it would be applied if the object of one of the refusals had not been refused.
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

    /// The changeset without what is refused.
    public func applied(of changeset: Changeset, in schema: Schema) -> Changeset {
        guard !substitutes.isEmpty else { return changeset }
        var result = changeset
        result.instructions = remaining(of: changeset, in: schema).instructions
        return result
    }
}
