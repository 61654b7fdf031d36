internal import TomboloModel

/// Permits a role some operations on the objects of a class that satisfy a filter. There are no rules that forbid:
/// what nothing permits is denied.
public struct Rule: Hashable, Sendable {
    public let role: Role
    public let className: String
    public let operations: Set<Operation>
    public let filter: RowFilter

    public init(_ role: Role, _ className: String, _ operations: Set<Operation>, where filter: RowFilter) {
        self.role = role
        self.className = className
        self.operations = operations
        self.filter = filter
    }

    /// A stable hash of all that the rule says.
    var fingerprint: UInt64 {
        var hash = StableHash()
        hash.add(role.name)
        hash.add(className)
        hash.add(Int64(operations.count))
        for name in operations.map(\.name).sorted() { hash.add(name) }
        filter.add(to: &hash)
        return hash.value
    }
}
