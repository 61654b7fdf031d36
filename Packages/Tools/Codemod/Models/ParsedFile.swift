/// A file with its declarations.
struct ParsedFile {
    let source: SourceText
    let types: [TypeDeclaration]
    /// The members of each type.
    let members: [[Member]]
    /// For each token, the innermost enclosing type, or -1.
    private let innermost: [Int]

    init(_ source: SourceText) {
        self.source = source
        types = TypeScanner.scan(source)
        members = types.map { MemberScanner.scan(source, $0) }
        var innermost = [Int](repeating: -1, count: source.tokens.count)
        for (position, type) in types.enumerated() {
            for token in type.open...type.close { innermost[token] = position }
        }
        self.innermost = innermost
    }

    /// The type whose body contains a token.
    func type(around token: Int) -> Int? { innermost[token] >= 0 ? innermost[token] : nil }

    /// The properties of a type.
    func properties(_ type: Int) -> [PropertyDeclaration] {
        members[type].compactMap { if case .property(let property) = $0 { property } else { nil } }
    }

    func functions(_ type: Int) -> [FunctionDeclaration] {
        members[type].compactMap { if case .function(let function) = $0 { function } else { nil } }
    }
}
