internal import TomboloModel

/// Permits a role some operations on the objects of a class that satisfy a filter. There are no rules that forbid:
/// what nothing permits is denied.
public struct Rule: Hashable, Sendable {
    public let role: Role
    public let className: String
    public let operations: Set<Operation>
    public let filter: RowFilter
    /// Properties that an update may not change under this rule. Another rule may still permit it.
    public let fixed: Set<String>

    /// - Parameter fixed: see ``fixed``.
    public init(
        _ role: Role, _ className: String, _ operations: Set<Operation>, where filter: RowFilter,
        fixing fixed: Set<String> = []
    ) {
        self.role = role
        self.className = className
        self.operations = operations
        self.filter = filter
        self.fixed = fixed
    }

    /// A stable hash of all that the rule says.
    var fingerprint: UInt64 {
        var hash = StableHash()
        hash.add(role.name)
        hash.add(className)
        hash.add(Int64(operations.count))
        for name in operations.map(\.name).sorted() { hash.add(name) }
        filter.add(to: &hash)
        hash.add(Int64(fixed.count))
        for name in fixed.sorted() { hash.add(name) }
        return hash.value
    }
}
