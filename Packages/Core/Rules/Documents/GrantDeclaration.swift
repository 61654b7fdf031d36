/// Where users get roles from: each object of a class gives one user one role, in one scope or everywhere.
struct GrantDeclaration: Sendable {
    let className: RuleNode.Entry
    /// Property names with their lines.
    let user: RuleNode.Entry
    let role: RuleNode.Entry
    let scope: RuleNode.Entry?
    /// The names of the roles that the class can give, or nil if the document doesn't list them.
    let roles: [String]?
    /// The exclusive roles, of which each scope has one holder. Each entry names, with its line, the role that a holder
    /// gets after handing the exclusive one over.
    let exclusive: [RuleNode.Entry]
    let line: Int
}
