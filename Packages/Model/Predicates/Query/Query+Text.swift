/// Text properties: `String` and `String?`, and enumerations of text.
public protocol TextQueryable: Persistable {}
extension String: TextQueryable {}
extension String?: TextQueryable {}

extension Query where T: TextQueryable {
    private func text(_ test: Filter.TextTest, _ text: String, _ options: StringOptions) -> Query<Bool> {
        condition(node.test { .text($0, test, .literal(.string(text)), options) })
    }

    private func text<U>(_ test: Filter.TextTest, _ other: Query<U>, _ options: StringOptions) -> Query<Bool> {
        guard case .path(let path) = other.node, path.collectionNameCount == 0 else {
            preconditionFailure("The query compares text with something that is no property of the object.")
        }
        let right = node.isInList ? path.operand.seenFromElement() : path.operand
        return condition(node.test { .text($0, test, right, options) })
    }

    public func contains(_ text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.contains, text, options)
    }

    public func contains<U: TextQueryable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text(.contains, other, options)
    }

    public func starts(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.beginsWith, text, options)
    }

    public func starts<U: TextQueryable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text(.beginsWith, other, options)
    }

    public func ends(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text(.endsWith, text, options)
    }

    public func ends<U: TextQueryable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool> {
        text(.endsWith, other, options)
    }

    /// `*` stands for any text, `?` for one character.
    public func like(_ pattern: String, caseInsensitive: Bool = false) -> Query<Bool> {
        text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
    }

    public func like(_ pattern: String, options: StringOptions) -> Query<Bool> { text(.like, pattern, options) }

    public func equals(_ text: T, options: StringOptions = []) -> Query<Bool> {
        let literal = text.queryLiteral
        return condition(node.test { .compare($0, .equal, .literal(literal), options) })
    }

    public func equals<U: TextQueryable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool> {
        condition(node.compare(.equal, other.node, options))
    }

    public func notEquals(_ text: T, options: StringOptions = []) -> Query<Bool> {
        let literal = text.queryLiteral
        return condition(node.test { .compare($0, .notEqual, .literal(literal), options) })
    }

    public func notEquals<U: TextQueryable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool> {
        condition(node.compare(.notEqual, other.node, options))
    }
}
