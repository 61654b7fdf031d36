internal import TomboloModel

extension Rules {
    /// Why an object may not come to satisfy a condition that needs a permission; nil if nothing prevents it. Users
    /// without the permission may still change an object that already satisfied the condition.
    func refusal(
        _ subject: Subject, _ operation: Operation, making new: Row, of old: Row?, _ classIndex: Int, _ role: ClassRole
    ) -> Decision.Denial? {
        guard operation == .create || operation == .update, !role.requirements.isEmpty else { return nil }
        let item = schema[classIndex]
        func holds(_ expression: RuleExpression, _ row: Row) -> Bool {
            expression.verdict(for: subject) { column in
                item.columnIndexByName[column.name].map { row[$0] } ?? .null
            } == true
        }
        for requirement in role.requirements where holds(requirement.condition, new) {
            if operation == .update, let old, holds(requirement.condition, old) { continue }
            if requirement.permission.holds(for: subject) { continue }
            return .init(
                wording: Wording(
                    "Not permitted to \(operation) this \(item.name) like this: that requires the permission "
                        + "'\(name: requirement.name)'."), needsLogin: subject.isAnonymous)
        }
        return nil
    }
}
