internal import TomboloModel

/// Orders the instructions of a changeset so that no list element is created before the object it links to or the
/// element that holds its list.
///
/// Devices write a changeset in the order of the app's calls, and `list.append(Dog())` makes an element and its target
/// in one call. Optional links need no order: they're set once the target exists.
struct InstructionOrder {
    private let schema: Schema
    /// Whether an object existed before the changeset.
    private let exists: (ObjectReference) -> Bool
    private let instructions: [Instruction]
    /// Positions in ``instructions``.
    private var result: [Int] = []
    /// The first and last positions at which the changeset creates an object. Built when the first element needs it.
    private var creations: [ObjectReference: ClosedRange<Int>]?
    private var erased: Set<ObjectReference> = []
    /// Positions of held-back instructions by object, in the changeset's order.
    private var held: [ObjectReference: [Int]] = [:]
    /// Held-back elements, by the object they wait for.
    private var waiting: [ObjectReference: [ObjectReference]] = [:]
    /// Held-back elements, by the object that owns their list.
    private var heldOf: [ObjectReference: [ObjectReference]] = [:]

    private init(_ instructions: [Instruction], _ schema: Schema, _ exists: @escaping (ObjectReference) -> Bool) {
        self.instructions = instructions
        self.schema = schema
        self.exists = exists
        result.reserveCapacity(instructions.count)
    }

    /// The positions of the instructions, with those on an element moved right behind the creation of its target. An
    /// element whose target neither exists nor is created stays where it is. No instruction moves past the erase of the
    /// list's owner.
    static func targetsFirst(
        _ instructions: [Instruction], schema: Schema, exists: @escaping (ObjectReference) -> Bool
    ) -> [Int] {
        var order = InstructionOrder(instructions, schema, exists)
        for index in instructions.indices { order.take(index) }
        // Elements that wait for each other in a cycle, which no device sends.
        if !order.held.isEmpty { for instruction in instructions { order.giveUp(instruction.reference) } }
        return order.result
    }

    private mutating func take(_ index: Int) {
        let instruction = instructions[index]
        let reference = instruction.reference
        if held[reference] != nil {
            held[reference]?.append(index)
            return
        }
        switch instruction {
        case .create(_, let fields):
            if let target = missing(reference, fields, at: index) {
                hold(reference, [index], for: target)
                return
            }
        case .erase:
            for element in heldOf.removeValue(forKey: reference) ?? [] { giveUp(element) }
            erased.insert(reference)
        case .set, .add: break
        }
        result.append(index)
        if case .create = instruction, !waiting.isEmpty { release(whatWaitsFor: reference, at: index) }
    }

    private mutating func hold(_ element: ObjectReference, _ positions: [Int], for target: ObjectReference) {
        held[element] = positions
        waiting[target, default: []].append(element)
        guard case .create(_, let fields) = instructions[positions[0]],
            let owner = fields.first(where: { $0.column == ElementColumn.owner })
        else { return }
        let root = schema.rootClassIndex(of: element.classIndex)
        heldOf[ObjectReference(classIndex: root, key: owner.value), default: []].append(element)
    }

    /// Releases the elements that waited for `target`, and then those that waited for these elements.
    private mutating func release(whatWaitsFor target: ObjectReference, at index: Int) {
        var targets = [target]
        while let target = targets.popLast() {
            for element in waiting.removeValue(forKey: target) ?? [] {
                guard let positions = held.removeValue(forKey: element) else { continue }
                if case .create(_, let fields) = instructions[positions[0]],
                    let other = missing(element, fields, at: index)
                {
                    hold(element, positions, for: other)
                } else {
                    result += positions
                    targets.append(element)
                }
            }
        }
    }

    private mutating func giveUp(_ element: ObjectReference) {
        if let positions = held.removeValue(forKey: element) { result += positions }
    }

    /// An object that `reference` needs and that a later instruction creates, or that is itself held back.
    private mutating func missing(
        _ reference: ObjectReference, _ fields: [FieldWrite], at index: Int
    ) -> ObjectReference? {
        let item = schema[reference.classIndex]
        guard item.owner != nil else { return nil }
        for field in fields where item.columns.indices.contains(field.column) {
            let column = item.columns[field.column]
            guard !column.isOptional, !field.value.isNull, let name = column.linkTarget,
                let classIndex = schema.index(of: name)
            else { continue }
            let target = ObjectReference(classIndex: classIndex, key: field.value)
            if held[target] != nil { return target }
            let wasErased = erased.contains(target)
            guard wasErased || !exists(target) else { continue }
            let creations = self.creations ?? Self.creations(instructions)
            self.creations = creations
            if let places = creations[target], (wasErased ? places.upperBound : places.lowerBound) > index {
                return target
            }
        }
        return nil
    }

    private static func creations(_ instructions: [Instruction]) -> [ObjectReference: ClosedRange<Int>] {
        var result: [ObjectReference: ClosedRange<Int>] = [:]
        for (index, instruction) in instructions.enumerated() {
            guard case .create(let reference, _) = instruction else { continue }
            result[reference] = (result[reference]?.lowerBound ?? index)...index
        }
        return result
    }
}
