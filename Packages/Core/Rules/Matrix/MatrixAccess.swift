internal import TomboloModel

/// A matrix, and who may see and change it.
struct MatrixAccess: Sendable {
    let matrix: PermissionMatrix
    /// Of the keys of what roles are granted in.
    let scopeType: PropertyType
    let read: RuleExpression
    let write: RuleExpression
    /// In the order in which they are asked: who is of a group of users, and of none before it.
    let userGroups: [(name: String, condition: RuleExpression)]
    /// By name: who has a permission.
    let permissions: [String: RuleExpression]
}
