/// A `var` or `let` in a type's body, as far as it matters for rewriting.
struct PropertyDeclaration {
    let head: DeclarationHead
    /// The token `var` or `let`.
    let keyword: Int
    let isLet: Bool
    let name: String
    let nameToken: Int
    /// The tokens of the type annotation.
    let type: Range<Int>?
    /// The tokens of the initial value, without the `=`.
    let value: Range<Int>?
    /// The opening brace of `{ get … }` or `{ didSet … }`.
    let block: Int?
    let isComputed: Bool
    /// The commas in `var a = 1, b = 2`.
    let commas: [Int]
    /// The token after the declaration.
    let end: Int
}
