/// A class, structure, enumeration, protocol, actor or extension.
struct TypeDeclaration {
    enum Kind: String {
        case `class`, `struct`, `enum`, `protocol`, `actor`, `extension`
    }

    struct Inherited {
        /// Dotted, without generic arguments.
        let name: String
        let tokens: Range<Int>
    }

    let kind: Kind
    let head: DeclarationHead
    /// The name; for an extension what it extends, which may be dotted.
    let name: String
    let nameToken: Int
    /// The token after the name and its generic parameters.
    let afterName: Int
    let inherited: [Inherited]
    /// The brackets of the body.
    let open: Int
    let close: Int
    /// Names of the types around it, outermost first.
    let scope: [String]

    var path: [String] { scope + name.split(separator: ".").map(String.init) }
}
