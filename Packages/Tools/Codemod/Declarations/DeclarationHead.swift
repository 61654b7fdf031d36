/// The attributes and modifiers before a declaration's keyword.
struct DeclarationHead {
    struct Word {
        /// The name without `@`, for example `objc` or `private`.
        let name: String
        /// The tokens, including `@` and any arguments.
        let tokens: Range<Int>
        let hasArguments: Bool
    }

    private(set) var attributes: [Word] = []
    private(set) var modifiers: [Word] = []
    /// The first token.
    let start: Int
    /// The token after the last modifier: the keyword.
    private(set) var keyword: Int

    static let modifierNames: Set<String> = [
        "public", "private", "fileprivate", "internal", "package", "open", "final", "dynamic", "static", "override",
        "required", "convenience", "lazy", "weak", "unowned", "optional", "mutating", "nonmutating", "nonisolated",
        "indirect", "prefix", "postfix", "infix", "isolated", "borrowing", "consuming", "distributed",
    ]
    private static let afterClassModifier: Set<String> = ["func", "var", "let", "subscript"]

    init(_ source: SourceText, at start: Int) {
        self.start = start
        keyword = start
        while keyword < source.tokens.count {
            if source.isToken(keyword, "@"), source.isIdentifier(keyword + 1) {
                var end = keyword + 2
                while source.isToken(end, "."), source.isIdentifier(end + 1) { end += 2 }
                if source.isToken(end, "<"), source.isAdjacent(end), let after = source.afterGenericArguments(end) {
                    end = after
                }
                let hasArguments = source.isToken(end, "(") && source.isAdjacent(end)
                if hasArguments { end = source.next(end) }
                attributes.append(
                    Word(name: source.text(keyword + 1), tokens: keyword..<end, hasArguments: hasArguments))
                keyword = end
            } else if let name = modifier(source, keyword) {
                var end = keyword + 1
                let hasArguments = source.isToken(end, "(") && source.isAdjacent(end)
                if hasArguments { end = source.next(end) }
                modifiers.append(Word(name: name, tokens: keyword..<end, hasArguments: hasArguments))
                keyword = end
            } else {
                break
            }
        }
    }

    func attribute(_ name: String) -> Word? { attributes.first { $0.name == name } }
    func modifier(_ name: String) -> Word? { modifiers.first { $0.name == name } }
    func has(_ modifier: String) -> Bool { self.modifier(modifier) != nil }
    var isStatic: Bool { has("static") || has("class") }

    private func modifier(_ source: SourceText, _ token: Int) -> String? {
        guard source.isIdentifier(token) else { return nil }
        let name = source.text(token)
        if name == "class" {
            let following = source.text(token + 1)
            let isModifier = Self.afterClassModifier.contains(following) || Self.modifierNames.contains(following)
            return isModifier ? name : nil
        }
        return Self.modifierNames.contains(name) ? name : nil
    }
}
