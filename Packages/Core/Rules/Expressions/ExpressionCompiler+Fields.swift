internal import TomboloModel

extension ExpressionCompiler {
    mutating func fieldCondition(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode, depth: Int
    ) -> RuleExpression {
        guard depth < RuleNode.maximumDepth else {
            return refuse(node.line, "the expression nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        guard case .map(let entries) = node.content, !node.isWrappedValue else {
            return operand(column, node).map { .field(column, .equal, $0) } ?? .constant(false)
        }
        guard let first = entries.first else {
            return refuse(node.line, "'\(column.name)' is compared with {}; write a value or an operator such as $eq.")
        }
        if !first.key.isOperator {
            return refuse(
                first.line,
                "'\(column.name)' is compared with a mapping; for a property of an embedded object write "
                    + "'\(column.name).\(first.key.shortened(toByteCount: 40))'.")
        }
        return conjunction(entries.map { fieldTest(column, $0, depth: depth) }, node.line)
    }

    mutating func fieldTest(
        _ column: RuleExpression.ColumnReference, _ entry: RuleNode.Entry, depth: Int
    ) -> RuleExpression {
        let value = entry.value
        switch RuleOperator(entry.key) {
        case .compare(let comparison):
            guard let operand = operand(column, value) else { return .constant(false) }
            if operand == .literal(.null), comparison != .equal, comparison != .notEqual {
                return refuse(value.line, "'\(column.name)' can be compared with null only by $eq and $ne.")
            }
            return .field(column, comparison, operand)
        case .isIn(let isNegated):
            let test = membership(column, value, entry.key)
            return isNegated ? .negation(test) : test
        case .exists:
            guard case .bool(let flag) = value.content else {
                return refuse(value.line, "\(entry.key) takes true or false, not \(value.kind).")
            }
            return .field(column, flag ? .notEqual : .equal, .literal(.null))
        case .not: return .negation(fieldCondition(column, value, depth: depth + 1))
        case .and, .or, .nor:
            guard case .list(let nodes) = value.content, !nodes.isEmpty else {
                return refuse(value.line, "\(entry.key) takes a list of conditions, not \(value.kind).")
            }
            let parts = nodes.map { fieldCondition(column, $0, depth: depth + 1) }
            switch RuleOperator(entry.key) {
            case .and: return conjunction(parts, value.line)
            case .or: return .disjunction(parts)
            default: return .negation(.disjunction(parts))
            }
        case nil: return refuse(entry.line, unknownOperator(entry.key))
        }
    }

    mutating func membership(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode, _ key: String
    ) -> RuleExpression {
        switch node.content {
        case .list(let nodes):
            guard !nodes.isEmpty else { return refuse(node.line, "\(key) has an empty list.") }
            return .fieldIn(column, nodes.compactMap { operand(column, $0) })
        case .string(let text) where text.hasPrefix(Self.withinPrefix):
            return added(column, String(text.dropFirst(Self.withinPrefix.count)), node.line)
        case .string(let text) where text.hasPrefix("%%"):
            guard let reference = reference(text, node.line) else { return .constant(false) }
            guard reference.canBeList else {
                return refuse(node.line, "\(key) takes a list, and \(text) isn't one.")
            }
            return .fieldInList(column, reference)
        default: return refuse(node.line, "\(key) takes a list of values, not \(node.kind).")
        }
    }

    /// Whether the field names a role that was added to the matrix and may do nothing that the given role may not.
    mutating func added(
        _ column: RuleExpression.ColumnReference, _ name: String, _ line: Int
    ) -> RuleExpression {
        guard column.type == .string else {
            return refuse(
                line, "'\(column.name)' is \(column.type.article) and can't hold a role's name, which is a string.")
        }
        guard let names = declaration?.addedRoles(within: name) else {
            let known = (declaration?.everywhere ?? []) + (declaration?.roles ?? [])
            let hint = name.nearest(in: known.map(\.name)).map { "; did you mean '\(Self.withinPrefix)\($0)'?" } ?? "."
            return refuse(
                line, "the matrix has no role '\(name.shortened(toByteCount: String.nearestLengthLimit))'\(hint)")
        }
        return names.isEmpty ? .constant(false) : .fieldIn(column, names.map { .literal(.string($0)) })
    }

    mutating func operand(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode
    ) -> RuleExpression.FieldOperand? {
        if case .map(let entries) = node.content, let entry = entries.first, entries.count == 1,
            let result = RuleOperator.conversions[entry.key]
        {
            guard column.type == result else {
                report(
                    entry.line,
                    "\(entry.key) gives \(result.article), and '\(column.name)' is "
                        + "\(column.type.article).")
                return nil
            }
            return operand(column, entry.value)
        }
        if case .string(let text) = node.content, text.hasPrefix("%%"), text != "%%true", text != "%%false" {
            guard let reference = reference(text, node.line) else { return nil }
            guard !reference.isList else {
                report(node.line, "\(text) is a list: write {\"\(column.name)\": {\"$in\": \"\(text)\"}}.")
                return nil
            }
            guard reference != .id || column.type == .objectId || column.type == .string else {
                report(
                    node.line,
                    "'\(column.name)' is \(column.type.article) and can't hold a user's id, which is an "
                        + "ObjectId.")
                return nil
            }
            guard !reference.isOfPartition || PartitionKey.canHold(column.type) else {
                report(
                    node.line,
                    "'\(column.name)' is \(column.type.article) and can't hold a partition, which is a string, an "
                        + "integer, an ObjectId or a UUID.")
                return nil
            }
            return .reference(reference)
        }
        guard let literal = literal(node) else { return nil }
        if literal == .null { return .literal(.null) }
        guard let value = literal.converted(to: column.type), !value.isNotANumber else {
            let hint = if case .array = literal { "; to compare with several values, write {\"$in\": […]}" } else { "" }
            report(
                node.line,
                "'\(column.name)' is \(column.type.article) and can't be compared with \(literal)\(hint).")
            return nil
        }
        return .literal(value)
    }
}
