internal import TomboloRules

/// The changes that a merge still has to make in the newer document, and the outcome of the others.
struct MatrixWishes {
    private var pending: [MatrixChange] = []
    private(set) var kept: [MatrixChange] = []
    private(set) var lost: [MatrixMerge.Loss] = []
    /// The matrix of the document in use.
    private let used: PermissionMatrix
    /// The matrix of the newer document.
    private let new: PermissionMatrix

    /// - Parameter changes: the changes that led to `used`. Those that the newer document already contains are left
    ///   out.
    init(_ changes: [MatrixChange], _ used: PermissionMatrix, _ new: PermissionMatrix) {
        self.used = used
        self.new = new
        for change in changes {
            switch change {
            case .box(let box, let isPermitted): addBox(box, isPermitted)
            case .userBox(let box, let isPermitted):
                if !new.has(box) || new.permits(box) != isPermitted { pending.append(change) }
            case .added(let role, let isEverywhere, let boxes):
                if new.rows.contains(role), !changes.contains(.removed(role)) {
                    narrow(role)
                } else {
                    let known = boxes.filter { service, _ in new.services.contains { $0.name == service } }
                    let counting = known.reduce(into: [:]) { result, entry in
                        result[entry.key] = entry.value.filter {
                            new.counts($0, of: entry.key, isEverywhere: isEverywhere)
                        }
                    }
                    pending.append(.added(role, isEverywhere: isEverywhere, boxes: counting))
                    loseBoxes(of: role) { counting[$0.service]?.contains($0.operation) != true }
                }
            case .removed(let role):
                if new.rows.contains(role) { pending.append(change) }
            }
        }
    }

    /// Makes the changes in rounds, since one may need another first: reading before updating, for example. Changes
    /// that no round could make are lost.
    mutating func carryOut(in text: RuleText) -> RuleText {
        var text = text
        var failures: [MatrixMerge.Loss] = []
        var isMoving = true
        while isMoving {
            failures = []
            isMoving = false
            for change in pending {
                do throws(MatrixEditError) {
                    text = try text.applying(change)
                    kept.append(change)
                    isMoving = true
                } catch {
                    failures.append(.init(change: change, reason: error.description))
                }
            }
            pending = failures.map(\.change)
        }
        lost += failures
        return text
    }

    private mutating func addBox(_ box: PermissionMatrix.Box, _ isPermitted: Bool) {
        let wish = MatrixChange.box(box, isPermitted: isPermitted)
        if isPermitted, new.has(box), !new.shares(box.role, with: used) {
            let kind = new.roles.contains(box.role) ? "only within an object" : "everywhere"
            lost.append(.init(change: wish, reason: "In the new rules the role applies \(kind)."))
            return
        }
        guard !new.has(box) || new.permits(box) != isPermitted, !pending.contains(wish) else { return }
        pending.append(wish)
        guard box.operation == .read, !isPermitted else { return }
        // Without permission to read there is none to change, whatever else the newer document ticks.
        for other in new.boxes(of: box.role) where other.service == box.service && other != box {
            let more = MatrixChange.box(other, isPermitted: false)
            if new.permits(other), !pending.contains(more) { pending.append(more) }
        }
    }

    /// Narrows a role that both sides added to what both permit, since neither knew of the other's.
    private mutating func narrow(_ role: String) {
        for box in used.boxes(of: role) where !used.permits(box) && new.permits(box) {
            pending.append(.box(box, isPermitted: false))
        }
        loseBoxes(of: role) { [new] in !new.permits($0) }
    }

    private mutating func loseBoxes(of role: String, where isLost: (PermissionMatrix.Box) -> Bool) {
        for box in used.boxes(of: role) where used.permits(box) && isLost(box) {
            let isThere = new.services.contains { $0.name == box.service }
            let isEverywhere = !used.roles.contains(role)
            let reason =
                !isThere
                ? MatrixEditError.unknownService(box.service, known: new.services.map(\.name)).description
                : new.counts(box.operation, of: box.service, isEverywhere: isEverywhere)
                    ? "The new rules have a role with this name, and it may not do this."
                    : MatrixEditError.countsNowhere(box, isEverywhere: isEverywhere).description
            lost.append(.init(change: .box(box, isPermitted: true), reason: reason))
        }
    }
}

extension RuleText {
    /// - Throws: ``MatrixEditError``.
    fileprivate func applying(_ change: MatrixChange) throws(MatrixEditError) -> RuleText {
        switch change {
        case .box(let box, let isPermitted): try setting(box, to: isPermitted)
        case .userBox(let box, let isPermitted): try setting(box, to: isPermitted)
        case .added(let role, let isEverywhere, let boxes):
            try adding(role, isEverywhere: isEverywhere, boxes: boxes)
        case .removed(let role): try removing(role)
        }
    }
}
