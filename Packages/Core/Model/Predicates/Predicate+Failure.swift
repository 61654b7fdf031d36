extension Predicate {
    /// The first part that a row doesn't satisfy, as narrow as can be: nil exactly where ``matches(_:of:)`` is true. Of
    /// alternatives none of which holds it is all of them, of a negation the negation.
    public func failure(of row: Row, of schema: ClassSchema) -> Predicate? {
        guard !matches(row, of: schema) else { return nil }
        switch self {
        case .and(let parts):
            return parts.lazy.compactMap { $0.failure(of: row, of: schema) }.first ?? self
        case .or(let parts) where parts.count == 1: return parts[0].failure(of: row, of: schema)
        case .constant, .compare, .isIn, .text, .or, .not: return self
        }
    }
}
