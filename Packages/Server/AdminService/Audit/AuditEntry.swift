import TomboloModel

/// An entry of the audit log about an object, as far as the caller may see it.
struct AuditEntry: Sendable {
    let id: Int64
    /// Microseconds since 1970.
    let at: Int64
    /// `c`, `u`, `e` or `b`, as in the log.
    let operation: String
    /// By column.
    let before: [Int: Value]
    let after: [Int: Value]
}
