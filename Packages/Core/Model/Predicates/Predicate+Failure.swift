extension Predicate {
    /// The first part that a row doesn't satisfy, as small as possible; nil if and only if ``matches(_:of:)`` is true.
    /// If no part of an OR holds, it's the whole OR; if a NOT doesn't hold, it's the NOT.
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
