internal import TomboloModel

extension ExpressionCompiler {
    mutating func userCondition(
        _ reference: UserReference, _ node: RuleNode, depth: Int
    ) -> RuleExpression {
        guard depth < RuleNode.maximumDepth else {
            return refuse(node.line, "the expression nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        guard case .map(let entries) = node.content, !node.isWrappedValue else {
            return userOperand(node).map { .user(reference, .compare(.equal, $0)) } ?? .constant(false)
        }
        guard let first = entries.first else {
            return refuse(node.line, "\(reference) is compared with {}; write a value or an operator such as $eq.")
        }
        guard first.key.isOperator else {
            return refuse(
                first.line, "\(reference) is compared with a mapping; name one of its values by a longer path.")
        }
        return .conjunction(entries.map { userTest(reference, $0, depth: depth) })
    }

    mutating func userTest(
        _ reference: UserReference, _ entry: RuleNode.Entry, depth: Int
    ) -> RuleExpression {
        let value = entry.value
        switch RuleOperator(entry.key) {
        case .compare(let comparison):
            return userOperand(value).map { .user(reference, .compare(comparison, $0)) } ?? .constant(false)
        case .isIn(let isNegated):
            let test: RuleExpression
            switch value.content {
            case .list(let nodes): test = .user(reference, .isIn(.list(nodes.compactMap { userOperand($0) })))
            case .string(let text) where text.hasPrefix("%%"):
                guard let other = self.reference(text, value.line) else { return .constant(false) }
                test = .user(reference, .isIn(.reference(other)))
            default: return refuse(value.line, "\(entry.key) takes a list of values, not \(value.kind).")
            }
            return isNegated ? .negation(test) : test
        case .exists:
            guard case .bool(let flag) = value.content else {
                return refuse(value.line, "\(entry.key) takes true or false, not \(value.kind).")
            }
            return flag ? .user(reference, .exists) : .negation(.user(reference, .exists))
        case .not: return .negation(userCondition(reference, value, depth: depth + 1))
        case .and, .or, .nor:
            guard case .list(let nodes) = value.content, !nodes.isEmpty else {
                return refuse(value.line, "\(entry.key) takes a list of conditions, not \(value.kind).")
            }
            let parts = nodes.map { userCondition(reference, $0, depth: depth + 1) }
            switch RuleOperator(entry.key) {
            case .and: return .conjunction(parts)
            case .or: return .disjunction(parts)
            default: return .negation(.disjunction(parts))
            }
        case nil: return refuse(entry.line, unknownOperator(entry.key))
        }
    }

    mutating func userOperand(_ node: RuleNode) -> RuleExpression.UserOperand? {
        switch node.content {
        // Ids of users and objects are strings here, so there is nothing to convert.
        case .map(let entries) where entries.count == 1 && RuleOperator.conversions[entries[0].key] != nil:
            return userOperand(entries[0].value)
        case .string(let text) where text.hasPrefix("%%") && text != "%%true" && text != "%%false":
            return reference(text, node.line).map { .reference($0) }
        case .list(let nodes): return .list(nodes.compactMap { userOperand($0) })
        default: return literal(node).map { .literal($0) }
        }
    }
}
