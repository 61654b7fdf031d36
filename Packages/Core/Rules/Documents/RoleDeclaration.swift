/// A role as a document declares it: a name, whom it is for, and what it permits, its expressions not checked yet.
struct RoleDeclaration: Sendable {
    let name: String
    let line: Int
    /// Nil where it is missing.
    var applyWhen: RuleNode?
    /// Whether it is also for callers who aren't logged in.
    var isForAnonymous = false
    /// Whether it permits what the matrix permits, beside its own.
    var usesMatrix = true
    /// The filters of documents: `read` and `write` of the first form, `document_filters` of the second.
    var read: RuleNode?
    var write: RuleNode?
    /// The second form's `read` and `write`, which come before field rules; nil where they are missing.
    var readsEveryField: Bool?
    var writesEveryField: Bool?
    var insert: RuleNode?
    var delete: RuleNode?
    /// What may be created besides.
    var create: RuleNode?
    /// Conditions on objects by the name of the permission that it takes to make an object satisfy them.
    var requires: [RuleNode.Entry] = []
    /// Further operations by name.
    var operations: [RuleNode.Entry] = []
    var fields: RuleNode?
    var additionalFields: RuleNode?
    /// Written with `apply_when` and `document_filters`.
    var isSecondForm = false
}
