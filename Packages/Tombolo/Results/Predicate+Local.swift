internal import TomboloModel

extension Predicate {
    /// The same condition without literals that no property can hold, such as NaN or text with U+0000, which a user may
    /// have entered: every object differs from them, and none is equal to, beyond or contains one.
    var withoutImpossibleLiterals: Predicate {
        switch self {
        case .constant: self
        case .compare(_, let comparison, let literal):
            literal.canBeHeld ? self : .constant(comparison == .notEqual)
        case .isIn(let path, let literals): .isIn(path, literals.filter(\.canBeHeld))
        case .text(_, _, let text, _): Value.string(text).canBeHeld ? self : .constant(false)
        case .and(let parts): .and(parts.map(\.withoutImpossibleLiterals))
        case .or(let parts): .or(parts.map(\.withoutImpossibleLiterals))
        case .not(let inner): .not(inner.withoutImpossibleLiterals)
        }
    }
}
