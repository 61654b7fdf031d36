extension Predicate {
    /// Whether a row satisfies the predicate.
    /// - Parameter value: returns the value at a path, or `.null` if a link on the way leads nowhere.
    public func evaluate(_ value: (PropertyPath) -> Value) -> Bool {
        switch self {
        case .constant(let result): result
        case .compare(let path, let comparison, let literal): comparison.evaluate(value(path), literal)
        case .isIn(let path, let literals): literals.contains(value(path))
        case .text(let path, let test, let text, let ignoringCase):
            if case .string(let subject) = value(path) {
                test.evaluate(subject, text, ignoringCase: ignoringCase)
            } else {
                false
            }
        case .and(let parts): parts.allSatisfy { $0.evaluate(value) }
        case .or(let parts): parts.contains { $0.evaluate(value) }
        case .not(let inner): !inner.evaluate(value)
        }
    }

    /// Whether a row of a class satisfies the predicate. Paths must have only one name, which ``check(for:in:)`` ensures.
    public func matches(_ row: Row, of schema: ClassSchema) -> Bool {
        evaluate { path in
            schema.columnIndex(path.description).map { row[$0] } ?? .null
        }
    }
}

extension Predicate.Comparison {
    package func evaluate(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left.order(right).map { $0 < 0 } ?? false
        case .lessOrEqual: left.order(right).map { $0 <= 0 } ?? false
        case .greater: left.order(right).map { $0 > 0 } ?? false
        case .greaterOrEqual: left.order(right).map { $0 >= 0 } ?? false
        }
    }
}

extension Predicate.TextTest {
    /// Compares UTF-8 bytes. `ignoringCase` folds only A–Z, which all stores can do in the same way.
    package func evaluate(_ subject: String, _ text: String, ignoringCase: Bool) -> Bool {
        var subject = subject
        return subject.withUTF8 { subject in
            switch self {
            case .beginsWith: Self.equal(subject.prefix(text.utf8.count), text, ignoringCase)
            case .endsWith: Self.equal(subject.suffix(text.utf8.count), text, ignoringCase)
            case .contains:
                text.utf8.count <= subject.count
                    && LiteralSearch(text.utf8, ignoringCase: ignoringCase).find(in: subject) != nil
            }
        }
    }

    private static func equal(
        _ part: Slice<UnsafeBufferPointer<UInt8>>, _ text: String, _ ignoringCase: Bool
    ) -> Bool {
        part.count == text.utf8.count
            && part.elementsEqual(text.utf8) {
                ignoringCase ? $0.lowercasedASCII == $1.lowercasedASCII : $0 == $1
            }
    }
}
