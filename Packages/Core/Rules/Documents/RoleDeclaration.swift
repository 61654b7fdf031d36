/// A role as a document declares it: its name, the users it applies to, and what it permits. Its expressions aren't
/// checked yet.
struct RoleDeclaration: Sendable {
    let name: String
    let line: Int
    /// Nil if it is missing.
    var applyWhen: RuleNode?
    /// Whether the role also applies to callers who aren't logged in.
    var isForAnonymous = false
    /// Whether the matrix adds to what the role permits.
    var usesMatrix = true
    /// The filters on objects: `read` and `write` in the first form, `document_filters` in the second.
    var read: RuleNode?
    var write: RuleNode?
    /// The second form's `read` and `write`, which override field rules. Nil if they are missing.
    var readsEveryField: Bool?
    var writesEveryField: Bool?
    var insert: RuleNode?
    var delete: RuleNode?
    /// Objects that the role may create in addition.
    var create: RuleNode?
    /// Conditions on objects, by the name of the permission that a user needs to make an object satisfy them.
    var requires: [RuleNode.Entry] = []
    /// Further operations by name.
    var operations: [RuleNode.Entry] = []
    var fields: RuleNode?
    var additionalFields: RuleNode?
    /// Whether the role is written with `apply_when` and `document_filters`.
    var isSecondForm = false
}
