public import TomboloModel

/// The answer of ``Rules/authorize(_:_:_:)``.
public enum Decision: Hashable, Sendable {
    /// Permitted for objects that satisfy the filter: those that the resource was about need satisfy nothing else. True
    /// where the resource was one object.
    case allowed(Predicate)
    case denied(Denial)

    /// Why an operation is not permitted.
    public struct Denial: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence for the user that names class, operation and the roles it takes; no data.
        public let wording: Wording
        /// Nobody is logged in: whether a login helps is open. HTTP answers 401 instead of 403.
        public let needsLogin: Bool

        /// The sentence in English.
        public var reason: String { wording.description }

        public var description: String { reason }
    }

    public var isAllowed: Bool {
        if case .allowed = self { true } else { false }
    }

    /// The filter of what is permitted.
    /// - Throws: the denial.
    public func get() throws(Denial) -> Predicate {
        switch self {
        case .allowed(let filter): return filter
        case .denied(let denial): throw denial
        }
    }
}
