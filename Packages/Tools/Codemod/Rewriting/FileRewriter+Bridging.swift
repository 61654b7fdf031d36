/// Rewrites `NSDate` where it is used with a property that is now a `Date`.
extension FileRewriter {
    /// How many tokens to search before a cast for the assignment.
    private static let maximumStatement = 64

    mutating func rewriteBridging() {
        let declarations = Set(
            facts.plans.filter { $0.key.file == file }.flatMap { id, plans in
                plans.flatMap { planned in
                    [planned.property.type, planned.property.value].compactMap(\.self).flatMap { Array($0) }
                }
            })
        for token in source.tokens.indices where !declarations.contains(token) {
            guard source.isIdentifier(token), let bridge = ModelFacts.bridges[source.text(token)],
                !source.isToken(token - 1, ".")
            else { continue }
            if let name = assigned(token), facts.bridged[name] == bridge {
                replace(token, with: bridge)
                counts.others += 1
            } else if model(around: token) != nil {
                report(
                    .warning, at: token,
                    "\(source.text(token)) is used in a model whose properties are now \(bridge).",
                    "Write \(bridge).")
            }
        }
    }

    /// The property that a statement sets, if the token is the start of its value or the cast at its end.
    private func assigned(_ token: Int) -> String? {
        let isStart = source.isToken(token - 1, "=") && source.name(token - 2) != nil
        if isStart { return source.name(token - 2) }
        var before = token - 1
        if source.isToken(before, "!") || source.isToken(before, "?") { before -= 1 }
        let ends =
            source.startsLine(token + 1) || source.isToken(token + 1, ";") || source.isToken(token + 1, "}")
        guard source.isToken(before, "as"), ends else { return nil }
        for _ in 0..<Self.maximumStatement where before > 1 {
            before -= 1
            if let partner = source.partner(before) {
                guard partner < before else { return nil }
                before = partner
            } else if source.isToken(before, "="), !source.isToken(before - 1, "="), !source.isToken(before - 1, "!") {
                return source.name(before - 1)
            } else if source.isToken(before, ";") {
                return nil
            }
            if source.startsLine(before) { return nil }
        }
        return nil
    }
}
