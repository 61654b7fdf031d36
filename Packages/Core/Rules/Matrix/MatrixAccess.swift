internal import TomboloModel

/// A matrix, and who may see and change it.
struct MatrixAccess: Sendable {
    let matrix: PermissionMatrix
    /// Of the keys of what roles are granted in.
    let scopeType: PropertyType
    let read: RuleExpression
    let write: RuleExpression
}
