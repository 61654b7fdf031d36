extension Predicate {
    /// Whether this predicate provably holds for every row for which the other one holds. The proof looks only at how
    /// the two are written, so false doesn't mean that a counterexample exists.
    public func covers(_ other: Predicate) -> Bool {
        if self == .constant(true) || other == .constant(false) || self == other { return true }
        if case .or(let parts) = other { return parts.allSatisfy(covers) }
        switch self {
        case .and(let parts): return parts.allSatisfy { $0.covers(other) }
        case .or(let parts) where parts.contains(where: { $0.covers(other) }): return true
        default: break
        }
        switch (self, other) {
        case (_, .and(let parts)): return parts.contains(where: covers)
        case (.isIn(let path, let values), .compare(let other, .equal, let value)):
            return path == other && values.contains(value)
        case (.isIn(let path, let values), .isIn(let other, let others)):
            return path == other && Set(others).isSubset(of: values)
        case (.compare(let path, .equal, let value), .isIn(let other, let others)):
            return path == other && others.allSatisfy { $0 == value }
        case (.not(let inner), .not(let excluded)): return excluded.covers(inner)
        default: return false
        }
    }
}
