internal import TomboloModel

/// Permission checks.
extension Arbiter.Attempt {
    /// Checks the permissions of every life of every object that the changeset touched.
    func objections(_ permit: (WriteRequest) -> WriteDenial?) -> [Arbiter.Objection] {
        var result: [Arbiter.Objection] = []
        var denied: Set<ObjectReference> = []
        /// The answers about lists, by the object that owns them.
        var answers: [ObjectReference: WriteDenial?] = [:]
        for reference in touched {
            guard let objection = objection(to: reference, permit, &answers) else { continue }
            if case .denied = objection { denied.insert(reference) }
            result.append(objection)
        }
        for item in impossible where !denied.contains(item.reference) {
            result.append(.impossible(position: item.position, item.refusal))
        }
        return result
    }

    func objection(
        to reference: ObjectReference, _ permit: (WriteRequest) -> WriteDenial?,
        _ answers: inout [ObjectReference: WriteDenial?]
    ) -> Arbiter.Objection? {
        let lives = lives[reference] ?? []
        for (index, var life) in lives.enumerated() {
            if index == lives.count - 1, let row = arbiter.rows[reference] { life.last = row }
            guard let owner = arbiter.owner(of: reference, row: life.last) else {
                let item = arbiter.classes[reference.classIndex]
                switch life.obstacle(
                    reference.classIndex, isTrashable: item.isTrashable,
                    written: written.isEmpty ? [] : written[reference] ?? [], permit)
                {
                case nil: continue
                case .denied(let denial): return .denied(reference, object: reference, denial)
                case .takenKey(let position):
                    return .impossible(position: position, Self.takenKey(reference, item))
                }
            }
            // If the changeset writes the list's owner, the permissions of that write decide.
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
}
