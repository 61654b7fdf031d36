/// Finds all type declarations of a file, at any depth, in one pass.
struct TypeScanner {
    /// Types nested more deeply than this aren't examined.
    static let maximumDepth = 64

    private let source: SourceText
    private var types: [TypeDeclaration] = []
    private var open: [(names: [String], close: Int)] = []

    static func scan(_ source: SourceText) -> [TypeDeclaration] {
        var scanner = TypeScanner(source: source)
        scanner.run()
        return scanner.types
    }

    private init(source: SourceText) { self.source = source }

    private mutating func run() {
        var token = 0
        while token < source.tokens.count {
            while let last = open.last, token > last.close { open.removeLast() }
            let isMember = source.isToken(token - 1, ".")
            guard !isMember, source.isToken(token, "@") || source.isIdentifier(token) else {
                token += 1
                continue
            }
            let head = DeclarationHead(source, at: token)
            if open.count < Self.maximumDepth, let type = declaration(head) {
                types.append(type)
                open.append((type.path, type.close))
                token = type.open + 1
            } else {
                token = max(head.keyword, token + 1)
            }
        }
    }

    private func declaration(_ head: DeclarationHead) -> TypeDeclaration? {
        guard let kind = TypeDeclaration.Kind(rawValue: source.text(head.keyword)) else { return nil }
        let nameToken = head.keyword + 1
        guard var name = source.name(nameToken) else { return nil }
        var token = nameToken + 1
        if kind == .extension {
            while source.isToken(token, "."), let part = source.name(token + 1) {
                name += "." + part
                token += 2
            }
        }
        guard let afterName = source.afterGenericArguments(token) else { return nil }
        token = afterName
        var inherited: [TypeDeclaration.Inherited] = []
        if source.isToken(token, ":") {
            repeat {
                guard let type = inheritedType(token + 1) else { return nil }
                inherited.append(type)
                token = source.afterGenericArguments(type.tokens.upperBound) ?? type.tokens.upperBound
                // In a composition, only the first part counts.
                while source.isToken(token, "&"), let part = inheritedType(token + 1) {
                    token = source.afterGenericArguments(part.tokens.upperBound) ?? part.tokens.upperBound
                }
            } while source.isToken(token, ",")
        }
        if source.isToken(token, "where") {
            let limit = min(source.tokens.count, token + SourceText.maximumSignature)
            while token < limit, !source.isToken(token, "{"), !source.isToken(token, "}") {
                token = source.next(token)
            }
        }
        guard source.isToken(token, "{"), let close = source.partner(token) else { return nil }
        return TypeDeclaration(
            kind: kind, head: head, name: name, nameToken: nameToken, afterName: afterName, inherited: inherited,
            open: token, close: close, scope: open.last?.names ?? [])
    }

    private func inheritedType(_ start: Int) -> TypeDeclaration.Inherited? {
        var token = start
        while source.isToken(token, "@"), source.isIdentifier(token + 1) { token += 2 }
        let first = token
        guard var name = source.name(token) else { return nil }
        token += 1
        while source.isToken(token, "."), let part = source.name(token + 1) {
            name += "." + part
            token += 2
        }
        return TypeDeclaration.Inherited(name: name, tokens: first..<token)
    }
}
