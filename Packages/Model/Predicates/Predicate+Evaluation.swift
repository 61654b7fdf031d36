extension Predicate {
    /// Whether a row satisfies the predicate.
    /// - Parameter value: the value at a path; nil (`.null`) where a link on the way leads nowhere.
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

    /// Whether a row of a class satisfies the predicate. Paths of one column only, as ``check(for:in:)`` ensures.
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
    /// Compares UTF-8 bytes; `ignoringCase` folds A–Z only, which is what all stores can do alike.
    package func evaluate(_ subject: String, _ text: String, ignoringCase: Bool) -> Bool {
        let subject = ignoringCase ? subject.utf8.map(Self.lowercased) : Array(subject.utf8)
        let text = ignoringCase ? text.utf8.map(Self.lowercased) : Array(text.utf8)
        switch self {
        case .beginsWith: return subject.starts(with: text)
        case .endsWith: return subject.reversed().starts(with: text.reversed())
        case .contains:
            guard text.count <= subject.count else { return false }
            return (0...(subject.count - text.count)).contains { subject[$0...].starts(with: text) }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
}
