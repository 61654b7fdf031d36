internal import TomboloModel

/// A matrix, and who may see and change it.
struct MatrixAccess: Sendable {
    /// What `operations` of a matrix can be about.
    static let operations: [Operation] = [.listAccounts, .manageAccounts]

    let matrix: PermissionMatrix
    /// Of the keys of what roles are granted in.
    let scopeType: PropertyType
    let read: RuleExpression
    let write: RuleExpression
    /// As far as the document says who may; see ``expression(for:)`` for the rest.
    let furtherOperations: [Operation: RuleExpression]
    /// In the order in which they are asked: who is of a group of users, and of none before it.
    let userGroups: [(name: String, condition: RuleExpression)]
    /// By name: who has a permission.
    let permissions: [String: RuleExpression]

    /// Who may do something that isn't about objects. Who may change the matrix may do all of it, since they could give it to
    /// themselves, and who may change something may see it.
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
