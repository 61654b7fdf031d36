internal import TomboloModel

/// Finds out which instructions on a forbidden object have to go, so that its other edits survive.
struct Narrowing {
    /// The number of instructions and fields of one object that are tried one after the other; of an object with more,
    /// all are refused. The work grows with its square.
    static let maximumUnitCount = 100
    /// The number of tries for one changeset; after them, all the instructions of each forbidden object are refused.
    static let maximumTryCount = 10_000

    private var tries = 0

    /// A part of an instruction that is refused or not: a field of a `set`, or another instruction whole.
    private struct Unit {
        /// The position in the changeset.
        let position: Int
        let instruction: Instruction
    }

    /// Refuses what `objections` are about.
    /// - Parameters:
    ///   - attempt: the changeset as it was tried.
    ///   - arbiter: the state before.
    ///   - instructions: those that were tried, with their `positions` in the changeset.
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
                    // A list's elements are permitted all or none.
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

    /// Keeps the units, in order, that together with those kept before are permitted.
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
    /// An arbiter that knows one object alone, and what it's linked to as far as it exists at the end of `attempt`.
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
    /// The same client's attempt with nothing done yet.
    fileprivate func startingAnew(from arbiter: Arbiter) -> Arbiter.Attempt {
        Arbiter.Attempt(arbiter: arbiter, client: client, stamp: stamp, base: base, hidden: hidden)
    }
}
