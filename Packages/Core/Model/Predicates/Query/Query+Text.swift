public import Foundation

/// Types whose values can be searched for a part: strings and data, optional or not.
public protocol BinaryQueryable: Persistable {}
extension Data: BinaryQueryable {}
extension String: TextQueryable {}

/// Strings, optional or not.
public protocol TextQueryable: BinaryQueryable {}
extension Optional: BinaryQueryable where Wrapped: BinaryQueryable & OptionalPersistable {}
extension Optional: TextQueryable where Wrapped: TextQueryable & OptionalPersistable {}

extension Query where T: Persistable {
    fileprivate func text(_ test: Filter.TextTest, _ value: T, _ options: StringOptions) -> Query<Bool> {
        let literal = value.queryLiteral
        return condition(node.test { .text($0, test, .literal(literal), options) })
    }

    fileprivate func text<U>(_ test: Filter.TextTest, _ other: Query<U>, _ options: StringOptions) -> Query<Bool> {
        guard case .path(let path) = other.node, path.collectionNameCount == 0 else {
            preconditionFailure("The query compares a string with something that is not a property of the object.")
        }
        let right = node.isInList ? path.operand.seenFromElement() : path.operand
        return condition(node.test { .text($0, test, right, options) })
    }
}

/// Tests of properties stored as strings or data. Options apply only to strings. As in Realm, every string contains,
/// begins with and ends with nil.
extension Query where T: Persistable, T.PersistedType: BinaryQueryable {
    /// Whether the value contains another.
    public func contains(_ part: T, options: StringOptions = []) -> Query<Bool> { text(.contains, part, options) }

    public func contains<U: Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U.PersistedType: BinaryQueryable { text(.contains, other, options) }

    /// Whether the value begins with another.
    public func starts(with part: T, options: StringOptions = []) -> Query<Bool> { text(.beginsWith, part, options) }

    public func starts<U: Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U.PersistedType: BinaryQueryable { text(.beginsWith, other, options) }

    /// Whether the value ends with another.
    public func ends(with part: T, options: StringOptions = []) -> Query<Bool> { text(.endsWith, part, options) }

    public func ends<U: Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U.PersistedType: BinaryQueryable { text(.endsWith, other, options) }

    /// Equality with options. Without any, the same as `==`.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        let literal = value.queryLiteral
        return condition(node.test { .compare($0, .equal, .literal(literal), options) })
    }

    public func equals<U: Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U.PersistedType: BinaryQueryable { condition(node.compare(.equal, other.node, options)) }

    /// Inequality with options. Without any, the same as `!=`.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        let literal = value.queryLiteral
        return condition(node.test { .compare($0, .notEqual, .literal(literal), options) })
    }

    public func notEquals<U: Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U.PersistedType: BinaryQueryable { condition(node.compare(.notEqual, other.node, options)) }
}

extension Query where T: Persistable, T.PersistedType: TextQueryable {
    /// `*` matches any text, `?` one character.
    public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
        text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
    }

    public func like<U: Persistable>(_ pattern: Query<U>, caseInsensitive: Bool = false) -> Query<Bool>
    where U.PersistedType: TextQueryable { text(.like, pattern, caseInsensitive ? .caseInsensitive : []) }

    public func like(_ pattern: T, options: StringOptions) -> Query<Bool> { text(.like, pattern, options) }
}
