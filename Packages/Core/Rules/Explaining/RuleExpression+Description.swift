internal import TomboloModel

/// For messages; not parsed back.
extension RuleExpression: CustomStringConvertible {
    var description: String {
        switch self {
        case .constant(let value): "\(value)"
        case .field(let column, let comparison, let operand): "\(column.name) \(comparison.rawValue) \(operand)"
        case .fieldIn(let column, let operands):
            "\(column.name) in [\(operands.map(\.description).joined(separator: ", "))]"
        case .fieldInList(let column, let reference): "\(column.name) in \(reference)"
        case .user(let reference, let test): "\(reference) \(test.text(forList: reference.isList))"
        case .all(let parts): parts.map(\.nested).joined(separator: " and ")
        case .any(let parts): parts.map(\.nested).joined(separator: " or ")
        case .not(let inner): "not \(inner.nested)"
        }
    }

    private var nested: String {
        switch self {
        case .all, .any: "(\(self))"
        default: description
        }
    }
}

extension RuleExpression.FieldOperand: CustomStringConvertible {
    var description: String {
        switch self {
        case .literal(let value): value.description
        case .reference(let reference): reference.description
        }
    }
}

extension RuleExpression.UserTest {
    fileprivate func text(forList isList: Bool) -> String {
        switch self {
        case .exists: isList ? "isn't empty" : "exists"
        case .compare(.equal, let operand) where isList: "contains \(operand)"
        case .compare(.notEqual, let operand) where isList: "doesn't contain \(operand)"
        case .compare(let comparison, let operand): "\(comparison.rawValue) \(operand)"
        case .isIn(let operand): "\(isList ? "has one of" : "in") \(operand)"
        }
    }
}

extension RuleExpression.UserOperand: CustomStringConvertible {
    var description: String {
        switch self {
        case .literal(let value): value.description
        case .list(let operands): "[\(operands.map(\.description).joined(separator: ", "))]"
        case .reference(let reference): reference.description
        }
    }
}
