/// A method or initialiser of a type's body.
struct FunctionDeclaration {
    let head: DeclarationHead
    let keyword: Int
    /// `init` for initialisers.
    let name: String
    /// The parenthesis of the parameters.
    let parameters: Int
    /// The brace of the body, if it has one.
    let body: Int?
    /// The token after the declaration.
    let end: Int
}
