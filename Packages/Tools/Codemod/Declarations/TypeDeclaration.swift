/// A class, structure, enumeration, protocol, actor or extension.
struct TypeDeclaration {
    enum Kind: String {
        case `class`, `struct`, `enum`, `protocol`, `actor`, `extension`
    }

    struct Inherited {
        /// The dotted name without generic arguments.
        let name: String
        let tokens: Range<Int>
    }

    let kind: Kind
    let head: DeclarationHead
    /// The type's name. For an extension, the name of the extended type, which may be dotted.
    let name: String
    let nameToken: Int
    /// The token after the name and its generic parameters.
    let afterName: Int
    let inherited: [Inherited]
    /// The braces of the body.
    let open: Int
    let close: Int
    /// The names of the enclosing types, outermost first.
    let scope: [String]

    var path: [String] { scope + name.split(separator: ".").map(String.init) }
}
