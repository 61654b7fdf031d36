internal import TomboloModel

extension Rules {
    /// Something that one subject may do and another may not.
    public enum Advantage: Hashable, Sendable {
        /// An operation on objects of a class.
        case objects(Operation, className: String)
        /// Access to properties or lists of objects that both may read or write.
        case properties(className: String)
    }

    /// One of the two subjects to compare, with the role that decides about a class.
    private struct Side {
        let subject: Subject
        let role: ClassRole
        /// The user to assume where a rule compares the user with an object's value.
        let owner: Subject

        func predicate(_ expression: RuleExpression) -> Predicate {
            expression.deciding(for: subject).predicate(for: owner)
        }

        /// The conditions that the subject may not make objects satisfy, for lack of a permission.
        var unmetConditions: Set<Predicate> {
            Set(
                role.requirements.filter { !$0.permission.holds(for: subject) }
                    .map { predicate($0.condition) }.filter { $0 != .constant(false) })
        }
    }

    /// Something that a subject may do with objects and another may not, or nil if the rules permit the other at least
    /// as much. This compares what they may do, not the names of their roles: a role that permits nothing is no
    /// advantage.
    ///
    /// Filters are compared as written, so this may report an advantage where there is none. What the rules give to
    /// somebody by their id, such as their own objects, counts as an advantage over everybody else, unless `owner` says
    /// otherwise.
    /// - Parameter owner: the user to assume in place of the other where the rules compare the user with an object's
    ///   value. Conditions on the user alone, such as those that name somebody, still apply to the other.
    public func advantage(
        of subject: Subject, over other: Subject, withObjectsOf owner: Subject? = nil
    ) -> Advantage? {
        for index in roles.keys.sorted() {
            guard let role = role(of: subject, index) else { continue }
            let side = Side(subject: subject, role: role, owner: subject)
            let otherSide = self.role(of: other, index).map { Side(subject: other, role: $0, owner: owner ?? other) }
            if let found = advantage(of: side, over: otherSide, index) { return found }
        }
        return nil
    }

    private func advantage(of one: Side, over other: Side?, _ index: Int) -> Advantage? {
        let name = schema[index].name
        func exceeds(_ expression: (ClassRole) -> RuleExpression) -> Bool {
            let permitted = other.map { $0.predicate(expression($0.role)) } ?? .constant(false)
            return !permitted.covers(one.predicate(expression(one.role)))
        }
        let all = Set(one.role.operations.keys).union(PermissionMatrix.operations)
        for operation in all.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        where exceeds({ $0.expression(for: operation) }) {
            return .objects(operation, className: name)
        }
        guard let other else { return nil }
        // Moving an object from one scope to another needs more than permission to update it.
        if exceeds(\.departure) || exceeds(\.arrival) { return .objects(.update, className: name) }
        if !other.unmetConditions.isSubset(of: one.unmetConditions) {
            return .objects(.update, className: name)
        }
        guard one.role.expression(for: .read).verdict(for: one.subject) != false else { return nil }
        let isAsWide =
            other.role.hiddenColumns.isSubset(of: one.role.hiddenColumns)
            && other.role.fixedColumns.isSubset(of: one.role.fixedColumns)
            && other.role.hiddenLists.isSubset(of: one.role.hiddenLists)
        return isAsWide ? nil : .properties(className: name)
    }
}
