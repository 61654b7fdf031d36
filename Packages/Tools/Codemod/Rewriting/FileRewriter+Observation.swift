/// Reports key-value observing of models, which ends with the ObjC runtime. Nothing is rewritten, because its
/// replacement has a different life cycle: a token that must be kept.
extension FileRewriter {
    /// How many tokens of arguments or a body to search for names of models.
    private static let maximumArguments = 2_000

    mutating func reportObservation() {
        guard !facts.index.models.isEmpty else { return }
        for token in source.tokens.indices {
            guard source.isIdentifier(token), source.isToken(token + 1, "("), let end = source.partner(token + 1) else {
                continue
            }
            let arguments = token + 2..<end
            let isInside = model(around: token) != nil
            switch source.text(token) {
            case "addObserver" where has(arguments, "forKeyPath") && (isInside || mentionsModel(arguments)):
                report(
                    .warning, at: token, "Key-value observing of a model needs the ObjC runtime.",
                    "Write 'token = object.observe { change in … }' and keep the token; unlike with '.initial', the "
                        + "block isn't called at the start.")
            case "removeObserver" where has(arguments, "forKeyPath") && (isInside || mentionsModel(arguments)):
                report(
                    .warning, at: token, "Key-value observing of a model needs the ObjC runtime.",
                    "Write 'token?.invalidate()', or release the token.")
            case "observeValue" where has(arguments, "forKeyPath") && source.isToken(token - 1, "func"):
                guard let body = self.body(after: end), isInside || mentionsModel(body, namesOnly: true) else {
                    continue
                }
                report(
                    .warning, at: token, "This handles key-value observations of a model.",
                    "Move what it does into the block of 'object.observe { change in … }'.")
            case "observe", "publisher":
                guard let start = keyPathStart(arguments), mentionsModel(start..<arguments.upperBound) else { continue }
                report(
                    .warning, at: token, "Key-value observing of a model by key path needs the ObjC runtime.",
                    "Write 'token = object.observe(keyPaths: [\"…\"]) { change in … }' and keep the token.")
            case "willChangeValue" where isInside, "didChangeValue" where isInside:
                report(
                    .warning, at: token, "Models don't send key-value notifications.",
                    "Remove it: observers are told of every change to a stored property.")
            case let name where isInside && name.hasPrefix("keyPathsForValuesAffecting"):
                report(
                    .warning, at: token, "Models don't send key-value notifications.",
                    "Remove it, and observe the properties that the computed one reads.")
            default: continue
            }
        }
    }

    private func has(_ arguments: Range<Int>, _ label: StaticString) -> Bool {
        var token = arguments.lowerBound
        while token < arguments.upperBound {
            if source.isToken(token, label) { return true }
            token = source.next(token)
        }
        return false
    }

    /// The backslash of a key path that is the first argument or the `for:` argument.
    private func keyPathStart(_ arguments: Range<Int>) -> Int? {
        var token = arguments.lowerBound
        if source.isToken(token, "for"), source.isToken(token + 1, ":") { token += 2 }
        return source.isToken(token, "\\") ? token : nil
    }

    /// Whether a key path, literal or name refers to a model in the input.
    private func mentionsModel(_ range: Range<Int>, namesOnly: Bool = false) -> Bool {
        range.prefix(Self.maximumArguments).contains { token in
            if let name = source.name(token) {
                if index.modelNames.contains(name) { return true }
                return !namesOnly && source.isToken(token - 1, ".") && facts.propertyNames.contains(name)
            }
            return !namesOnly && (source.literal(token).map(facts.propertyNames.contains) ?? false)
        }
    }

    private func body(after end: Int) -> Range<Int>? {
        var token = end + 1
        while token < min(source.tokens.count, end + 32), !source.isToken(token, "{") { token = source.next(token) }
        guard source.isToken(token, "{"), let close = source.partner(token) else { return nil }
        return token..<close
    }
}
