internal import TomboloModel

extension RuleExpression {
    /// For a conjunction: a property that no value can satisfy, because its comparisons with literals contradict each
    /// other. This doesn't find every impossible condition, only comparisons of one property that exclude each other.
    var contradictoryField: String? {
        guard case .all(let parts) = self else { return nil }
        var tests: [String: [Test]] = [:]
        for part in parts {
            switch part {
            case .field(let column, let comparison, .literal(let value)):
                tests[column.name, default: []].append(.compare(comparison, value))
            case .fieldIn(let column, let operands):
                let values = operands.compactMap { operand -> Value? in
                    if case .literal(let value) = operand { value } else { nil }
                }
                if values.count == operands.count { tests[column.name, default: []].append(.isIn(values)) }
            default: continue
            }
        }
        return tests.keys.sorted().first { !Self.isPossible(tests[$0] ?? []) }
    }

    private enum Test {
        case compare(Predicate.Comparison, Value)
        case isIn([Value])

        func holds(_ value: Value) -> Bool {
            switch self {
            case .compare(let comparison, let literal): comparison.evaluate(value, literal)
            case .isIn(let literals): literals.contains(value)
            }
        }
    }

    private static func isPossible(_ tests: [Test]) -> Bool {
        for test in tests {
            switch test {
            case .compare(.equal, let value): return tests.allSatisfy { $0.holds(value) }
            case .isIn(let values): return values.contains { value in tests.allSatisfy { $0.holds(value) } }
            default: continue
            }
        }
        // Only bounds and exclusions are left: the highest lower bound must not be above the lowest upper bound.
        for case .compare(let lower, let low) in tests where lower == .greater || lower == .greaterOrEqual {
            for case .compare(let upper, let high) in tests where upper == .less || upper == .lessOrEqual {
                guard let order = low.order(high) else { continue }
                if order > 0 || order == 0 && (lower == .greater || upper == .less) { return false }
            }
        }
        return true
    }
}
