internal import TomboloModel

/// Decisions without a predicate. A user may have grants on hundreds of objects, but only a few of them matter to a
/// decision about one object.
extension RuleExpression {
    /// Looks up the known value of a column; nil if it isn't known.
    typealias KnownValue = (ColumnReference) -> Value?

    /// Whether the expression holds for this user and an object of which some columns are known; nil if that depends on
    /// the other columns. If ``predicate(for:)`` is a constant, this returns the same even if no column is known.
    func verdict(for subject: Subject, knowing known: KnownValue = { _ in nil }) -> Bool? {
        switch self {
        case .constant(let value): return value
        case .field(let column, let comparison, let operand):
            guard let literal = operand.value(for: subject, as: column.type) else { return comparison == .notEqual }
            return known(column).map { comparison.evaluate($0, literal) }
        case .fieldIn(let column, let operands):
            guard let value = known(column) else {
                return operands.contains { $0.value(for: subject, as: column.type) != nil } ? nil : false
            }
            return operands.contains { $0.value(for: subject, as: column.type) == value }
        case .fieldInList(let column, let reference):
            guard let value = known(column) else {
                return subject.hasAny(of: reference, as: column.type) ? nil : false
            }
            return subject.has(value, among: reference, as: column.type)
        case .user(let reference, let test): return test.holds(for: subject.value(of: reference), of: subject)
        case .all(let parts):
            var isOpen = false
            for part in parts {
                guard let verdict = part.verdict(for: subject, knowing: known) else {
                    isOpen = true
                    continue
                }
                if !verdict { return false }
            }
            return isOpen ? nil : true
        case .any(let parts):
            var isOpen = false
            for part in parts {
                guard let verdict = part.verdict(for: subject, knowing: known) else {
                    isOpen = true
                    continue
                }
                if verdict { return true }
            }
            return isOpen ? nil : false
        case .not(let inner): return inner.verdict(for: subject, knowing: known).map { !$0 }
        }
    }

    /// What the expression demands of an object's unknown columns.
    func predicate(for subject: Subject, knowing known: KnownValue) -> Predicate {
        if let verdict = verdict(for: subject, knowing: known) { return .constant(verdict) }
        return switch self {
        case .all(let parts): .all(parts.map { $0.predicate(for: subject, knowing: known) })
        case .any(let parts): .any(parts.map { $0.predicate(for: subject, knowing: known) })
        case .not(let inner): .not(inner.predicate(for: subject, knowing: known))
        case .constant, .field, .fieldIn, .fieldInList, .user: predicate(for: subject)
        }
    }
}

extension Subject {
    /// Whether a list has a value that a column can hold.
    fileprivate func hasAny(of reference: UserReference, as type: PropertyType) -> Bool {
        switch reference {
        case .grants(let role):
            return scopes[Role(role)]?.contains { UserValue(key: $0).converted(to: type) != nil } ?? false
        default:
            guard case .array(let values) = value(of: reference) else { return false }
            return values.contains { $0.converted(to: type) != nil }
        }
    }

    /// Whether a list has the value of a column.
    fileprivate func has(_ value: Value, among reference: UserReference, as type: PropertyType) -> Bool {
        switch reference {
        case .grants(let role):
            if grants.contains(RoleGrant(role: Role(role), scope: value)) {
                return UserValue(key: value).converted(to: type) == value
            }
            return (scopes[Role(role)] ?? []).contains { scope in
                switch (scope, value) {
                // A value of the same kind would have to be equal, and there is no equal one.
                case (.objectId, .objectId), (.string, .string), (.uuid, .uuid), (.int, .int): false
                default: UserValue(key: scope).converted(to: type) == value
                }
            }
        default:
            guard case .array(let values) = self.value(of: reference) else { return false }
            return values.contains { $0.converted(to: type) == value }
        }
    }
}
