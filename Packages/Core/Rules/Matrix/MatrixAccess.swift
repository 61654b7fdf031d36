internal import TomboloModel

/// A matrix, and the conditions for seeing and changing it.
struct MatrixAccess: Sendable {
    /// The operations that a matrix's `operations` can name.
    static let operations: [Operation] = [.listAccounts, .manageAccounts]

    let matrix: PermissionMatrix
    /// The type of the keys of the objects that roles are granted in.
    let scopeType: PropertyType
    let read: RuleExpression
    let write: RuleExpression
    /// The operations that the document has a condition for. For the others, see ``expression(for:)``.
    let furtherOperations: [Operation: RuleExpression]
    /// The groups of users in the order of evaluation. A user belongs to the first group whose condition holds.
    let userGroups: [(name: String, condition: RuleExpression)]
    /// Which users have a permission, by its name.
    let permissions: [String: RuleExpression]

    /// Who may do something that isn't about objects. Users who may change the matrix may do all of it, since they
    /// could give themselves the permission. Users who may change something may also see it.
    func expression(for operation: Operation) -> RuleExpression {
        let managing = furtherOperations[.manageAccounts] ?? .constant(false)
        return switch operation {
        case .read: .disjunction([read, write])
        case .update: write
        case .listAccounts: .disjunction([furtherOperations[.listAccounts] ?? read, managing, write])
        case .manageAccounts: .disjunction([managing, write])
        default: .constant(false)
        }
    }
}
