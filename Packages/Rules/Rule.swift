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

    var canonicalText: String {
        let names = operations.map(\.name).sorted().joined(separator: ",")
        return "\(role.name) \(className) \(names) \(filter.canonicalText)"
    }
}
