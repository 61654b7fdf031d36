/// Scans the members of a type's body, without looking into nested bodies.
struct MemberScanner {
    private let source: SourceText

    static func scan(_ source: SourceText, _ type: TypeDeclaration) -> [Member] {
        MemberScanner(source: source).members(type.open + 1..<type.close)
    }

    private func members(_ body: Range<Int>) -> [Member] {
        var members: [Member] = []
        var token = body.lowerBound
        while token < body.upperBound {
            let isStart =
                token == body.lowerBound || source.startsLine(token) || source.isToken(token - 1, ";")
                || source.isToken(token - 1, "}")
            guard isStart, source.isToken(token, "@") || source.isIdentifier(token) else {
                token = source.next(token)
                continue
            }
            let head = DeclarationHead(source, at: token)
            switch source.text(head.keyword) {
            case "var", "let":
                guard let property = property(head, body.upperBound) else {
                    token = head.keyword + 1
                    continue
                }
                members.append(.property(property))
                token = max(property.end, token + 1)
            case "func", "init":
                guard let function = function(head, body.upperBound) else {
                    token = head.keyword + 1
                    continue
                }
                members.append(.function(function))
                token = max(function.end, token + 1)
            default: token = max(source.next(head.keyword), token + 1)
            }
        }
        return members
    }

    // MARK: Functions

    private func function(_ head: DeclarationHead, _ limit: Int) -> FunctionDeclaration? {
        var token = head.keyword + 1
        var name = "init"
        if source.isToken(head.keyword, "func") {
            name = source.name(token) ?? source.text(token)
            token += 1
            while token < limit, !source.isToken(token, "("), !source.isToken(token, "<"), source.isAdjacent(token) {
                token += 1
            }
        } else if source.isToken(token, "?") || source.isToken(token, "!") {
            token += 1
        }
        guard let parameters = source.afterGenericArguments(token), source.isToken(parameters, "(") else { return nil }
        token = source.next(parameters)
        // The body starts with the first brace on the signature's lines.
        while token < limit, !source.isToken(token, "{"), !source.isToken(token, ";"), !isMemberStart(token) {
            token = source.next(token)
        }
        let body = token < limit && source.isToken(token, "{") ? token : nil
        return FunctionDeclaration(
            head: head, keyword: head.keyword, name: name, parameters: parameters, body: body,
            end: body.map { source.next($0) } ?? token)
    }

    private func isMemberStart(_ token: Int) -> Bool {
        guard source.startsLine(token) else { return false }
        if source.isToken(token, "@") { return true }
        let text = source.text(token)
        let keywords: Set<String> = [
            "var", "let", "func", "init", "deinit", "class", "struct", "enum", "typealias", "subscript", "case",
        ]
        return keywords.contains(text) || DeclarationHead.modifierNames.contains(text)
    }

    // MARK: Properties

    private func property(_ head: DeclarationHead, _ limit: Int) -> PropertyDeclaration? {
        guard let name = source.name(head.keyword + 1) else { return nil }
        var token = head.keyword + 2
        var type: Range<Int>?
        if source.isToken(token, ":") {
            let end = typeEnd(token + 1, limit)
            type = token + 1..<end
            token = end
        }
        var value: Range<Int>?
        if isAssignment(token) {
            let end = valueEnd(token + 1, limit)
            value = token + 1..<end
            token = end
        }
        var block: Int?
        var isComputed = false
        if source.isToken(token, "{"), token < limit {
            block = token
            isComputed = value == nil && !isObserverBlock(token)
            token = source.next(token)
        }
        var commas: [Int] = []
        while source.isToken(token, ","), token < limit {
            commas.append(token)
            token = valueEnd(token + 1, limit)
        }
        return PropertyDeclaration(
            head: head, keyword: head.keyword, isLet: source.isToken(head.keyword, "let"), name: name,
            nameToken: head.keyword + 1, type: type, value: value, block: block, isComputed: isComputed,
            commas: commas, end: token)
    }

    private func isAssignment(_ token: Int) -> Bool {
        source.isToken(token, "=") && !(source.isToken(token + 1, "=") && source.isAdjacent(token + 1))
    }

    private func typeEnd(_ start: Int, _ limit: Int) -> Int {
        var token = start
        while token < limit {
            if source.isToken(token, "=") || source.isToken(token, "{") || source.isToken(token, ",")
                || source.isToken(token, ";") || (token > start && source.startsLine(token) && !continuesType(token))
            {
                return token
            }
            if source.isToken(token, "<"), let after = source.afterGenericArguments(token) {
                token = after
            } else {
                token = source.next(token)
            }
        }
        return min(token, limit)
    }

    private func continuesType(_ token: Int) -> Bool {
        let before = source.text(token - 1)
        return [":", ".", "&", ">", "some", "any"].contains(before) && before != ">" || source.isToken(token, ".")
            || source.isToken(token, "&")
    }

    /// The token after an expression. It ends at the end of its line, unless an operator continues it, or at a comma
    /// or a block of observers.
    private func valueEnd(_ start: Int, _ limit: Int) -> Int {
        var token = start
        while token < limit {
            if token > start {
                if source.isToken(token, ",") || source.isToken(token, ";") { return token }
                if source.startsLine(token), !continuesExpression(token) { return token }
                if source.isToken(token, "{"), isObserverBlock(token) { return token }
            }
            if source.isToken(token, "<"), source.isIdentifier(token - 1), source.isAdjacent(token),
                let after = source.afterGenericArguments(token)
            {
                token = after
            } else {
                token = source.next(token)
            }
        }
        return min(token, limit)
    }

    private func continuesExpression(_ token: Int) -> Bool {
        let before: Set<String> = [
            "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", "?", ":", ".", "as", "is", "try", "await", "in",
        ]
        let after: Set<String> = ["+", "*", "/", "%", "&", "|", "^", "<", ">", "?", ":", ".", "=", "as", "is"]
        let previous = source.text(token - 1)
        // A `?` directly after a value belongs to an optional, not to a condition.
        let isPostfix = previous == "?" && source.isAdjacent(token - 1)
        if before.contains(previous), !isPostfix { return true }
        if source.isToken(token, "{") { return isObserverBlock(token) }
        return after.contains(source.text(token))
    }

    private func isObserverBlock(_ open: Int) -> Bool {
        let head = DeclarationHead(source, at: open + 1)
        return source.isToken(head.keyword, "didSet") || source.isToken(head.keyword, "willSet")
    }
}
