/// What a document says about one class.
struct ClassDeclaration: Sendable {
    let name: String
    let line: Int
    let roles: [RoleDeclaration]
}
