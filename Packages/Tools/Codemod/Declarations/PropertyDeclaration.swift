/// One `var` or `let` of a type's body, as far as rewriting needs it.
struct PropertyDeclaration {
    let head: DeclarationHead
    /// `var` or `let`.
    let keyword: Int
    let isLet: Bool
    let name: String
    let nameToken: Int
    /// The tokens of the type's annotation.
    let type: Range<Int>?
    /// The tokens of the initial value, without `=`.
    let value: Range<Int>?
    /// The brace of `{ get … }` or `{ didSet … }`.
    let block: Int?
    let isComputed: Bool
    /// The commas of `var a = 1, b = 2`.
    let commas: [Int]
    /// The token after the declaration.
    let end: Int
}
