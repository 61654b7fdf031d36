extension Filter {
    /// Converts a predicate. A predicate's `[c]` folds only A–Z; a filter's folds all letters.
    public init(_ predicate: Predicate) {
        switch predicate {
        case .constant(let value): self = .constant(value)
        case .compare(let path, let comparison, let literal):
            self = .compare(.property(path), comparison, .literal(literal), [])
        case .isIn(let path, let literals): self = .isIn(.property(path), literals, [])
        case .text(let path, let test, let text, let ignoringCase):
            let test: TextTest =
                switch test {
                case .contains: .contains
                case .beginsWith: .beginsWith
                case .endsWith: .endsWith
                }
            self = .text(.property(path), test, .literal(.string(text)), ignoringCase ? .caseInsensitive : [])
        case .and(let parts): self = .and(parts.map { Filter($0) })
        case .or(let parts): self = .or(parts.map { Filter($0) })
        case .not(let inner): self = .not(Filter(inner))
        }
    }

    /// The same condition as a predicate, for subscriptions and rules. Properties of embedded objects become columns of
    /// the class. Paths that follow links are kept, but ``Predicate/check(for:in:maximumPathLength:isBounded:)``
    /// refuses them.
    /// - Throws: ``ValueError``, which names the part of the condition that depends on more than one object's values.
    public func predicate(of item: ClassSchema) throws(ValueError) -> Predicate {
        switch self {
        case .constant(let value): return .constant(value)
        case .and(let parts): return .and(try Self.predicates(parts, item))
        case .or(let parts): return .or(try Self.predicates(parts, item))
        case .not(let inner): return .not(try inner.predicate(of: item))
        case .compare(.literal(let literal), let comparison, let operand, let options):
            return try Filter.compare(operand, comparison.mirrored, .literal(literal), options).predicate(of: item)
        case .compare(.property(let path), let comparison, .literal(let literal), []):
            switch (comparison, literal) {
            case (.equal, .null), (.notEqual, .null): break
            case (.greater, .null) where item.isOwnText(path):
                return .compare(item.columnPath(path), .notEqual, literal)
            case (.greaterOrEqual, .null) where item.isOwnText(path): return .constant(true)
            case (.lessOrEqual, .null), (.greaterOrEqual, .null):
                return .compare(item.columnPath(path), .equal, literal)
            case (_, .null): return .constant(false)
            default: break
            }
            return .compare(item.columnPath(path), comparison, literal)
        case .between(.property(let path), .literal(let low), .literal(let high)):
            guard !low.isNull, !high.isNull else { return .constant(false) }
            let path = item.columnPath(path)
            return .and([.compare(path, .greaterOrEqual, low), .compare(path, .lessOrEqual, high)])
        case .isIn(.property(let path), let literals, []): return .isIn(item.columnPath(path), literals)
        case .text(.property(let path), let test, .literal(.string(let text)), let options):
            guard let test = test.ofPredicate, options.isSubset(of: .caseInsensitive) else { throw refusal(item) }
            return .text(item.columnPath(path), test, text, ignoringCase: options == .caseInsensitive)
        case .compare, .between, .isIn, .text, .quantified: throw refusal(item)
        }
    }

    private static func predicates(_ parts: [Filter], _ item: ClassSchema) throws(ValueError) -> [Predicate] {
        var result: [Predicate] = []
        for part in parts { result.append(try part.predicate(of: item)) }
        return result
    }

    private func refusal(_ item: ClassSchema) -> ValueError {
        ValueError(
            "The condition \(self) on \(item.name) cannot be part of a subscription: a subscription can only compare "
                + "properties of one object with values, by ==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, BEGINSWITH "
                + "and ENDSWITH. The last three can take [c].")
    }
}

extension ClassSchema {
    /// Whether a path is a string property of the class itself. As in Realm, such a string is always greater than nil;
    /// any other order comparison with nil is false.
    package func isOwnText(_ path: PropertyPath) -> Bool {
        path.names.count == 1 && columnIndex(path.names[0]).map { columns[$0].type == .string } == true
    }
}

extension Filter.TextTest {
    /// The same test for a predicate, or nil for `LIKE`, which predicates don't support.
    package var ofPredicate: Predicate.TextTest? {
        switch self {
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: nil
        }
    }
}

extension ClassSchema {
    /// The path with an embedded object's name and its property's name joined into a column name.
    fileprivate func columnPath(_ path: PropertyPath) -> PropertyPath {
        columnIndex(path.description) == nil ? path : PropertyPath(path.description)
    }
}
