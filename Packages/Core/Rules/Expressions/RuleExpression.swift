internal import TomboloModel

/// A condition of a rule, checked against its class, with the user left open. Both SQL and decisions in memory are
/// derived from it, by way of ``predicate(for:)``.
///
/// Logic is two-valued. A value that the user doesn't have equals nothing, isn't in any list and has no order, so that
/// only `$ne`, `$nin` and `$exists: false` hold for it.
indirect enum RuleExpression: Hashable, Sendable {
    case constant(Bool)
    /// Compares a column of the object with one value.
    case field(ColumnReference, Predicate.Comparison, FieldOperand)
    case fieldIn(ColumnReference, [FieldOperand])
    /// Whether the column's value is in a list that the user has.
    case fieldInList(ColumnReference, UserReference)
    case user(UserReference, UserTest)
    case all([RuleExpression])
    case any([RuleExpression])
    case not(RuleExpression)

    /// A column's name and stored type. For a link, that is the type of the target's key.
    struct ColumnReference: Hashable, Sendable {
        let name: String
        let type: PropertyType
    }

    enum FieldOperand: Hashable, Sendable {
        case literal(Value)
        case reference(UserReference)
    }

    enum UserTest: Hashable, Sendable {
        case compare(Predicate.Comparison, UserOperand)
        case isIn(UserOperand)
        case exists
    }

    indirect enum UserOperand: Hashable, Sendable {
        case literal(UserValue)
        case list([UserOperand])
        case reference(UserReference)
    }
}

extension RuleExpression {
    /// A flat conjunction without duplicates, with constants folded.
    static func conjunction(_ parts: [RuleExpression]) -> RuleExpression {
        var kept: [RuleExpression] = []
        for part in parts {
            switch part {
            case .constant(true): continue
            case .constant(false): return .constant(false)
            case .all(let inner): kept += inner
            default: kept.append(part)
            }
        }
        kept = kept.withoutRepetition
        return kept.isEmpty ? .constant(true) : kept.count == 1 ? kept[0] : .all(kept)
    }

    /// A flat disjunction without duplicates, with constants folded.
    static func disjunction(_ parts: [RuleExpression]) -> RuleExpression {
        var kept: [RuleExpression] = []
        for part in parts {
            switch part {
            case .constant(false): continue
            case .constant(true): return .constant(true)
            case .any(let inner): kept += inner
            default: kept.append(part)
            }
        }
        kept = kept.withoutRepetition
        return kept.isEmpty ? .constant(false) : kept.count == 1 ? kept[0] : .any(kept)
    }

    static func negation(_ part: RuleExpression) -> RuleExpression {
        switch part {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        default: .not(part)
        }
    }

    /// The number of comparisons, literals in lists, and operators that connect them.
    var partCount: Int {
        switch self {
        case .constant, .field, .fieldInList: 1
        case .fieldIn(_, let operands): 1 + operands.count
        case .user(_, .isIn(.list(let operands))): 1 + operands.count
        case .user: 1
        case .all(let parts), .any(let parts): parts.reduce(1) { $0 + $1.partCount }
        case .not(let inner): 1 + inner.partCount
        }
    }
}

extension [RuleExpression] {
    fileprivate var withoutRepetition: [RuleExpression] {
        var seen: Set<RuleExpression> = []
        return filter { seen.insert($0).inserted }
    }
}
