public import TomboloModel

/// The answer of ``Rules/authorize(_:_:_:)``.
public enum Decision: Hashable, Sendable {
    /// Permitted for objects that satisfy the filter in addition to what the resource asks for. The filter is true if
    /// the resource was one object.
    case allowed(Predicate)
    case denied(Denial)

    /// Why an operation isn't permitted.
    public struct Denial: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence for the user. It names the class, the operation and the required roles, but no data.
        public let wording: Wording
        /// Whether nobody is logged in, so that a login might help. HTTP then answers 401 instead of 403.
        public let needsLogin: Bool

        /// The sentence in English.
        public var reason: String { wording.description }

        public var description: String { reason }
    }

    public var isAllowed: Bool {
        if case .allowed = self { true } else { false }
    }

    /// The filter of the permitted objects.
    /// - Throws: the denial.
    public func get() throws(Denial) -> Predicate {
        switch self {
        case .allowed(let filter): return filter
        case .denied(let denial): throw denial
        }
    }
}
