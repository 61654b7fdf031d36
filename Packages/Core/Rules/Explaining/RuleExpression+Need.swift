internal import TomboloModel

extension RuleExpression {
    /// Why the expression doesn't hold, or nil if it does.
    /// - Parameter row: the object's row. Without one, every condition on an object counts as possible.
    func need(for subject: Subject, row: Row?, of item: ClassSchema?) -> RuleNeed? {
        switch self {
        case .constant(let value): return value ? nil : .change(Wording("the rule permits nobody"))
        case .all(let parts): return .every(parts.compactMap { $0.need(for: subject, row: row, of: item) })
        case .any(let parts):
            let needs = parts.map { $0.need(for: subject, row: row, of: item) }
            return needs.contains(nil) ? nil : .oneOf(needs.compactMap { $0 })
        case .not(let inner):
            switch inner.predicate(for: subject) {
            case .constant(let value): return value ? .change(Wording("not \(inner), but it holds")) : nil
            case let predicate:
                guard let row, let item, predicate.matches(row, of: item) else { return nil }
                return .change(Wording("not \(inner), but it holds"))
            }
        case .user(let reference, _):
            if holds(for: subject) { return nil }
            if !subject.isAnonymous, let found = subject.value(of: reference) {
                return .change(
                    found == .array([])
                        ? Wording("\(self), but it is empty") : Wording("\(self), but it is \(found.listed)"))
            }
            return absence(of: reference, for: subject)
        case .field(let column, _, let operand):
            guard case .reference(let reference) = operand else { return need(column, nil, subject, row, item) }
            return need(column, reference, subject, row, item)
        case .fieldIn(let column, let operands):
            return need(column, operands.lazy.compactMap(\.reference).first, subject, row, item)
        case .fieldInList(let column, let reference): return need(column, reference, subject, row, item)
        }
    }

    private func need(
        _ column: ColumnReference, _ reference: UserReference?, _ subject: Subject, _ row: Row?, _ item: ClassSchema?
    ) -> RuleNeed? {
        let predicate = predicate(for: subject)
        if predicate == .constant(true) { return nil }
        if predicate == .constant(false) {
            guard let reference, let found = subject.value(of: reference) else {
                return absence(of: reference, for: subject)
            }
            return .change(
                found == .array([])
                    ? Wording("\(self), but \(reference) is empty")
                    : Wording("\(self), but \(reference) is \(found.listed)"))
        }
        guard let row, let item, !predicate.matches(row, of: item) else { return nil }
        let value = item.columnIndex(column.name).map { row[$0] } ?? .null
        let condition = reference.map { "\(predicate) (\($0))" } ?? "\(predicate)"
        return .change(Wording("\(condition), but it is \(value)"))
    }

    /// Says that the user has no value for a reference.
    private func absence(of reference: UserReference?, for subject: Subject) -> RuleNeed {
        if subject.isAnonymous { return .change(Wording("\(self), but nobody is logged in")) }
        return reference?.isOfPartition == true
            ? .change(Wording("\(self), but the session's partition has no such value"))
            : .change(Wording("\(self), but the user has no such value"))
    }
}

extension RuleExpression.FieldOperand {
    fileprivate var reference: UserReference? { if case .reference(let reference) = self { reference } else { nil } }
}

extension UserValue {
    /// The value for messages, with its elements if it's a short list.
    fileprivate var listed: Wording {
        switch self {
        case .array(let values) where values.count <= 5:
            Wording(untranslated: "[\(values.map(\.description).joined(separator: ", "))]")
        case .array(let values): Wording("a list of \(values.count)")
        case .object(let values): Wording("an object with \(values.count) keys")
        default: Wording(untranslated: description)
        }
    }
}
