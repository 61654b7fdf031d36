/// A method or initialiser in a type's body.
struct FunctionDeclaration {
    let head: DeclarationHead
    let keyword: Int
    /// `init` for initialisers.
    let name: String
    /// The opening parenthesis of the parameters.
    let parameters: Int
    /// The opening brace of the body, if it has one.
    let body: Int?
    /// The token after the declaration.
    let end: Int
}
