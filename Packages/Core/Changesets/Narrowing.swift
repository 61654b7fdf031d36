internal import TomboloModel

/// Finds out which instructions on a forbidden object must be refused, so that its other edits survive.
struct Narrowing {
    /// The maximum number of instructions and fields of one object that are tried one after the other. If an object has
    /// more, all are refused. The work grows with the square of this number.
    static let maximumUnitCount = 100
    /// The maximum number of tries for one changeset. After that, all instructions on each forbidden object are refused.
    static let maximumTryCount = 10_000

    private var tries = 0

    /// What is refused or kept as one: a field of a `set`, or any other instruction as a whole.
    private struct Unit {
        /// The instruction's position in the changeset.
        let position: Int
        let instruction: Instruction
    }

    /// Refuses the instructions that `objections` are about.
    /// - Parameters:
    ///   - attempt: the failed attempt.
    ///   - arbiter: the state before the attempt.
    ///   - instructions: the instructions that were tried, with their `positions` in the changeset.
    mutating func refuse(
        _ objections: [Arbiter.Objection], of attempt: Arbiter.Attempt, from arbiter: Arbiter,
        _ instructions: [Instruction], _ positions: [Int], _ permit: (WriteRequest) -> WriteDenial?,
        _ refused: inout RefusedInstructions
    ) {
        var denied: [ObjectReference: [Unit]] = [:]
        for case .denied(let reference, _, _) in objections { denied[reference] = [] }
        for (position, instruction) in zip(positions, instructions) {
            denied[instruction.reference]?.append(Unit(position: position, instruction: instruction))
        }
        for objection in objections {
            switch objection {
            case .impossible(let position, let refusal): refused.refuse(at: position, refusal)
            case .denied(let reference, let object, let denial):
                let all = denied[reference] ?? []
                let units = reference == object ? all.flatMap(Self.units) : []
                guard !units.isEmpty, units.count <= Self.maximumUnitCount, tries + units.count <= Self.maximumTryCount
                else {
                    // A list's elements are permitted or denied together.
                    for unit in all { refused.refuse(at: unit.position, arbiter.refusal(denial, object)) }
                    continue
                }
                tries += units.count
                let known = arbiter.alone(reference, writtenBy: all.map(\.instruction), asIn: attempt)
                narrow(reference, units, in: attempt.startingAnew(from: known), permit, &refused)
            }
        }
    }

    private static func units(of unit: Unit) -> [Unit] {
        guard case .set(let reference, let fields) = unit.instruction else { return [unit] }
        return fields.map { Unit(position: unit.position, instruction: .set(reference, [$0])) }
    }

    /// Goes through the units in order and keeps each one that is permitted together with those already kept.
    private func narrow(
        _ reference: ObjectReference, _ units: [Unit], in start: Arbiter.Attempt,
        _ permit: (WriteRequest) -> WriteDenial?, _ refused: inout RefusedInstructions
    ) {
        var kept: [Unit] = []
        var refusals: [(position: Int, refusal: Refusal)] = []
        for unit in units {
            var attempt = start
            for unit in kept + [unit] { attempt.perform(unit.instruction, at: unit.position) }
            attempt.setDeferredLinks()
            let denial = attempt.objections(permit).lazy.compactMap { objection in
                if case .denied(_, _, let denial) = objection { denial } else { nil }
            }.first
            if let denial {
                refusals.append((unit.position, start.arbiter.refusal(denial, reference)))
            } else {
                kept.append(unit)
            }
        }
        for (position, refusal) in refusals {
            let fields = kept.filter { $0.position == position }.flatMap { unit -> [FieldWrite] in
                if case .set(_, let fields) = unit.instruction { fields } else { [] }
            }
            if fields.isEmpty {
                refused.refuse(at: position, refusal)
            } else {
                refused.reduce(at: position, to: .set(reference, fields), refusal)
            }
        }
    }
}

extension Arbiter {
    /// An arbiter that has loaded one object and, if they exist at the end of `attempt`, the objects it links to.
    fileprivate func alone(
        _ reference: ObjectReference, writtenBy instructions: [Instruction], asIn attempt: Attempt
    ) -> Arbiter {
        var result = empty
        let changeset = Changeset(number: 0, base: 0, stamp: Stamp(microseconds: 0), instructions: instructions)
        for target in references(of: changeset).linked {
            if let row = attempt.arbiter.rows[target] { result.load(target, row) }
        }
        result.load(reference, rows[reference])
        if let row = trash[reference] { result.load(reference, trashed: row) }
        for entry in log[reference] ?? [] { result.load(entry) }
        return result
    }
}

extension Arbiter.Attempt {
    /// A new attempt of the same client with nothing done yet.
    fileprivate func startingAnew(from arbiter: Arbiter) -> Arbiter.Attempt {
        Arbiter.Attempt(arbiter: arbiter, client: client, stamp: stamp, base: base, hidden: hidden)
    }
}
