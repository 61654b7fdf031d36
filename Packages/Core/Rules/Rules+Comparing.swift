internal import TomboloModel

extension Rules {
    /// Something that one subject may do and another may not.
    public enum Advantage: Hashable, Sendable {
        /// With objects of a class.
        case objects(Operation, className: String)
        /// With properties or lists of objects that both may read or write.
        case properties(className: String)
    }

    /// Something that a subject may do with objects and another may not, or nil if the rules permit the other at least as much.
    /// What they may do is compared, not the names of their roles: a role that permits nothing is no advantage.
    ///
    /// Filters are compared as they are written, so that it may find an advantage where there is none. What rules give to
    /// somebody by their id, such as their own objects, is one over everybody else: the caller decides what to take for the
    /// same.
    public func advantage(of subject: Subject, over other: Subject) -> Advantage? {
        for index in roles.keys.sorted() {
            guard let role = role(of: subject, index) else { continue }
            if let found = advantage(of: (subject, role), over: (other, self.role(of: other, index)), index) {
                return found
            }
        }
        return nil
    }

    private func advantage(
        of one: (subject: Subject, role: ClassRole), over other: (subject: Subject, role: ClassRole?), _ index: Int
    ) -> Advantage? {
        let name = schema[index].name
        func exceeds(_ expression: (ClassRole) -> RuleExpression) -> Bool {
            let permitted = other.role.map { expression($0).predicate(for: other.subject) } ?? .constant(false)
            return !permitted.covers(expression(one.role).predicate(for: one.subject))
        }
        let all = Set(one.role.operations.keys).union(PermissionMatrix.operations)
        for operation in all.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        where exceeds({ $0.expression(for: operation) }) {
            return .objects(operation, className: name)
        }
        guard let role = other.role else { return nil }
        // Moving an object from one scope to another takes more than updating it.
        if exceeds(\.departure) || exceeds(\.arrival) { return .objects(.update, className: name) }
        let unmet = Self.unmetConditions(one.role, one.subject)
        if !Self.unmetConditions(role, other.subject).isSubset(of: unmet) {
            return .objects(.update, className: name)
        }
        guard one.role.expression(for: .read).verdict(for: one.subject) != false else { return nil }
        let isAsWide =
            role.hiddenColumns.isSubset(of: one.role.hiddenColumns)
            && role.fixedColumns.isSubset(of: one.role.fixedColumns)
            && role.hiddenLists.isSubset(of: one.role.hiddenLists)
        return isAsWide ? nil : .properties(className: name)
    }

    /// The conditions that the subject may not make come true, lacking a permission.
    private static func unmetConditions(_ role: ClassRole, _ subject: Subject) -> Set<Predicate> {
        Set(
            role.requirements.filter { !$0.permission.holds(for: subject) }
                .map { $0.condition.predicate(for: subject) }.filter { $0 != .constant(false) })
    }
}
