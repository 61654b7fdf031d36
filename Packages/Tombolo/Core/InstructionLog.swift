internal import TomboloChangesets
internal import TomboloModel

/// Instructions in order; several sets of one object become one.
struct InstructionLog {
    private(set) var instructions: [Instruction] = []
    /// Where the fields of an object can still be joined to an earlier create or set.
    private var open: [ObjectReference: Int] = [:]

    var isEmpty: Bool { instructions.isEmpty }

    mutating func append(_ instruction: Instruction) {
        let reference = instruction.reference
        switch instruction {
        case .set(_, let fields):
            if let position = open[reference] {
                merge(fields, into: position)
                return
            }
            open[reference] = instructions.count
        case .create: open[reference] = instructions.count
        // A later set must come after these.
        case .add, .erase: open[reference] = nil
        }
        instructions.append(instruction)
    }

    /// Everything so far; the log is empty afterwards.
    mutating func take() -> [Instruction] {
        let result = instructions
        instructions = []
        open = [:]
        return result
    }

    private mutating func merge(_ fields: [FieldWrite], into position: Int) {
        switch instructions[position] {
        case .create(let reference, let earlier):
            instructions[position] = .create(reference, Self.merged(earlier, fields))
        case .set(let reference, let earlier): instructions[position] = .set(reference, Self.merged(earlier, fields))
        case .add, .erase: break
        }
    }

    private static func merged(_ earlier: [FieldWrite], _ later: [FieldWrite]) -> [FieldWrite] {
        var result = earlier
        for field in later {
            if let index = result.firstIndex(where: { $0.column == field.column }) {
                result[index] = field
            } else {
                result.append(field)
            }
        }
        return result
    }
}
