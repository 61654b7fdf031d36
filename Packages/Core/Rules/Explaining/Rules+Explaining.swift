public import TomboloModel

extension Rules {
    /// What a subject may do with the objects of a class, by which role, and what would have to change to permit the
    /// rest. For an element class, the answer is about the objects that have the list.
    /// - Parameter row: the row of one object, in the class's column order. Updates are judged as if they left it
    ///   unchanged.
    /// - Returns: nil if there is no such class, or if the row has the wrong number of columns.
    public func explain(_ subject: Subject, className: String, row: Row? = nil) -> Explanation? {
        guard let given = schema.index(of: className) else { return nil }
        let index = schema.rootClassIndex(of: given)
        let item = schema[index]
        if let row, row.values.count != item.columns.count { return nil }
        let candidates = roles[index] ?? []
        let position = candidates.firstIndex { $0.applies(to: subject) }
        let asked = candidates.prefix(position.map { $0 + 1 } ?? candidates.count)
        let role = position.map { candidates[$0] }
        var permissions: [Explanation.Permission] = []
        if let role {
            let further = role.operations.keys.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            for operation in [Operation.read, .create, .update, .delete] + further {
                permissions.append(permission(subject, operation, role, item, index, row))
            }
        }
        func names(_ columns: Set<Int>?) -> [String] { (columns ?? []).sorted().map { item.columns[$0].name } }
        return Explanation(
            className: item.name, hasRules: roles[index] != nil,
            roles: asked.map { candidate in
                Explanation.Role(
                    name: candidate.name, place: candidate.place, applies: candidate.applies(to: subject),
                    needs: needs(of: candidate, subject))
            },
            permissions: permissions,
            hiddenProperties: names(role?.hiddenColumns) + (role?.hiddenLists ?? []).sorted().map { schema[$0].name },
            fixedProperties: names(role?.fixedColumns))
    }

    private func needs(of role: ClassRole, _ subject: Subject) -> [Wording] {
        if subject.isAnonymous, !role.isForAnonymous { return [Wording("a login")] }
        return role.applyWhen.need(for: subject, row: nil, of: nil)?.lines ?? []
    }

    private func permission(
        _ subject: Subject, _ operation: Operation, _ role: ClassRole, _ item: ClassSchema, _ index: Int, _ row: Row?
    ) -> Explanation.Permission {
        let expression = role.expression(for: operation)
        let filter = within(subject.partition, index, expression.predicate(for: subject))
        let decision = row.map { authorize(subject, operation, .object(classIndex: index, old: $0, new: $0)) }
        var needs = expression.need(for: subject, row: row, of: item)?.lines ?? []
        if needs.isEmpty, case .denied(let denial) = decision { needs = [denial.wording] }
        return Explanation.Permission(
            operation: operation, filter: filter, isPermitted: decision?.isAllowed, needs: needs)
    }
}
