internal import TomboloModel

extension RuleExpression {
    /// What an object must satisfy for the expression to hold for this user.
    func predicate(for subject: Subject) -> Predicate {
        switch self {
        case .constant(let value): return .constant(value)
        case .field(let column, let comparison, let operand):
            guard let value = operand.value(for: subject, as: column.type) else {
                return .constant(comparison == .notEqual)
            }
            return .compare(PropertyPath(column.name), comparison, value)
        case .fieldIn(let column, let operands):
            return column.isIn(operands.compactMap { $0.value(for: subject, as: column.type) })
        case .fieldInList(let column, let reference):
            guard case .array(let values) = subject.value(of: reference) else { return .constant(false) }
            return column.isIn(values.compactMap { $0.converted(to: column.type) })
        case .user(let reference, let test):
            return .constant(test.holds(for: subject.value(of: reference), of: subject))
        case .all(let parts): return .all(parts.map { $0.predicate(for: subject) })
        case .any(let parts): return .any(parts.map { $0.predicate(for: subject) })
        case .not(let inner):
            switch inner.predicate(for: subject) {
            case .constant(let value): return .constant(!value)
            case let predicate: return .not(predicate)
            }
        }
    }

    /// The expression with its conditions on the user replaced by their results.
    func deciding(for subject: Subject) -> RuleExpression {
        switch self {
        case .user(let reference, let test):
            .constant(test.holds(for: subject.value(of: reference), of: subject))
        case .all(let parts): .conjunction(parts.map { $0.deciding(for: subject) })
        case .any(let parts): .disjunction(parts.map { $0.deciding(for: subject) })
        case .not(let inner): .negation(inner.deciding(for: subject))
        case .constant, .field, .fieldIn, .fieldInList: self
        }
    }

    /// Whether the expression holds, for an expression on the user alone.
    func holds(for subject: Subject) -> Bool { verdict(for: subject) == true }
}

extension RuleExpression.ColumnReference {
    fileprivate func isIn(_ values: [Value]) -> Predicate {
        switch values.count {
        case 0: .constant(false)
        case 1: .compare(PropertyPath(name), .equal, values[0])
        default: .isIn(PropertyPath(name), values)
        }
    }
}

extension RuleExpression.FieldOperand {
    /// The operand's value, or nil if the user has none or the column couldn't hold it.
    func value(for subject: Subject, as type: PropertyType) -> Value? {
        switch self {
        case .literal(let value): value
        case .reference(let reference): subject.value(of: reference).flatMap { $0.converted(to: type) }
        }
    }
}

extension RuleExpression.UserTest {
    func holds(for value: UserValue?, of subject: Subject) -> Bool {
        switch self {
        case .exists:
            if case .array(let elements) = value { return !elements.isEmpty }
            return value != nil
        case .compare(.equal, let operand): return Self.equal(value, operand, subject)
        case .compare(.notEqual, let operand): return !Self.equal(value, operand, subject)
        case .compare(let comparison, let operand):
            guard let value, let other = operand.value(for: subject) else { return false }
            return value.elements.contains { $0.order(other).map(comparison.holds) ?? false }
        case .isIn(let operand):
            guard let value else {
                if case .list(let operands) = operand { return operands.contains(.literal(.null)) }
                return false
            }
            guard case .array(let others) = operand.value(for: subject) else { return false }
            return value.elements.contains { element in others.contains { element.equals($0) } }
        }
    }

    private static func equal(
        _ value: UserValue?, _ operand: RuleExpression.UserOperand, _ subject: Subject
    ) -> Bool {
        if operand == .literal(.null) { return value == nil }
        guard let value, let other = operand.value(for: subject) else { return false }
        if case .array(let elements) = value, elements.contains(where: { $0.equals(other) }) { return true }
        return value.equals(other)
    }
}

extension RuleExpression.UserOperand {
    fileprivate func value(for subject: Subject) -> UserValue? {
        switch self {
        case .literal(let value): value.isNull ? nil : value
        case .list(let operands): .array(operands.compactMap { $0.value(for: subject) })
        case .reference(let reference): subject.value(of: reference)
        }
    }
}

extension UserValue {
    /// A list stands for its elements, as in MongoDB's queries.
    fileprivate var elements: [UserValue] { if case .array(let values) = self { values } else { [self] } }
}

extension Predicate.Comparison {
    /// Whether this order of two values satisfies the comparison.
    fileprivate func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
