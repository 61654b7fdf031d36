import TomboloModel

/// An entry of the audit log about an object, reduced to what the caller may see.
struct AuditEntry: Sendable {
    let id: Int64
    /// Microseconds since 1970.
    let at: Int64
    /// `c`, `u`, `e` or `b`, as in the log.
    let operation: String
    /// By column number.
    let before: [Int: Value]
    let after: [Int: Value]
}
