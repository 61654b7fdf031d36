/// Where users get roles from: each object of a class gives one user one role, in one scope or everywhere.
struct GrantDeclaration: Sendable {
    let className: RuleNode.Entry
    /// Property names with their lines.
    let user: RuleNode.Entry
    let role: RuleNode.Entry
    let scope: RuleNode.Entry?
    /// The names of the roles that it gives; nil if the document doesn't list them.
    let roles: [String]?
    /// By a role that one user has in each scope: the role that a user gets who hands it over. With lines.
    let exclusive: [RuleNode.Entry]
    let line: Int
}
