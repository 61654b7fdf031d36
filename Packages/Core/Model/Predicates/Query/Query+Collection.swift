/// Properties that have several elements: ``List`` and ``LinkingObjects``.
public protocol QueryableCollection: Persistable {
    associatedtype Element: RealmCollectionValue
}

extension List: QueryableCollection {}
extension LinkingObjects: QueryableCollection {}

extension Query where T: QueryableCollection, T.Element: ObjectBase {
    /// A property of the elements. A comparison with it holds if it holds for at least one element.
    public subscript<Value>(dynamicMember keyPath: KeyPath<T.Element, Value>) -> Query<Value> { appending(keyPath) }
}

extension Query where T: QueryableCollection {
    /// The number of elements.
    public var count: Query<Int> {
        guard case .path(let path) = node else { preconditionFailure("Only lists have a count.") }
        return Query<Int>(node: .operand(.count(PropertyPath(path.names), .constant(true))))
    }

    /// Whether an element equals the value or is the given object.
    public func contains(_ value: T.Element) -> Query<Bool> { element == value }

    /// Whether an element is one of the given values.
    public func containsAny(in values: some Sequence<T.Element>) -> Query<Bool> { element.in(values) }

    /// Any element, for use in a comparison.
    private var element: Query<T.Element> { Query<T.Element>(node: node) }

    public static func == (left: Query<T>, right: T.Element) -> Query<Bool> { left.element == right }
    public static func != (left: Query<T>, right: T.Element) -> Query<Bool> { left.element != right }
    public static func < (left: Query<T>, right: T.Element) -> Query<Bool> { left.element < right }
    public static func <= (left: Query<T>, right: T.Element) -> Query<Bool> { left.element <= right }
    public static func > (left: Query<T>, right: T.Element) -> Query<Bool> { left.element > right }
    public static func >= (left: Query<T>, right: T.Element) -> Query<Bool> { left.element >= right }
}

extension Query where T: QueryableCollection, T.Element: Comparable, T.Element.PersistedType: QueryOrdered {
    /// Whether there's at least one element and all elements are within a closed range.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> { within(range) }

    /// Whether there's at least one element and all elements are within a half-open range.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { within(range) }
}

extension Query where T: QueryableCollection {
    /// Whether there's at least one non-nil element and all of them are within a closed range.
    public func contains<Wrapped: OptionalPersistable & Comparable>(
        _ range: ClosedRange<Wrapped>
    ) -> Query<Bool> where T.Element == Wrapped?, Wrapped.PersistedType: QueryOrdered { within(range) }

    /// Whether there's at least one non-nil element and all of them are within a half-open range.
    public func contains<Wrapped: OptionalPersistable & Comparable>(
        _ range: Range<Wrapped>
    ) -> Query<Bool> where T.Element == Wrapped?, Wrapped.PersistedType: QueryOrdered { within(range) }

    private func within<Bound: Persistable>(_ range: ClosedRange<Bound>) -> Query<Bool> {
        extremes(range.lowerBound.queryLiteral, .lessOrEqual, range.upperBound.queryLiteral)
    }

    private func within<Bound: Persistable>(_ range: Range<Bound>) -> Query<Bool> {
        extremes(range.lowerBound.queryLiteral, .less, range.upperBound.queryLiteral)
    }

    private func extremes(_ low: Value, _ comparison: Predicate.Comparison, _ high: Value) -> Query<Bool> {
        condition(
            .all([
                .compare(aggregate(.min), .greaterOrEqual, .literal(low), []),
                .compare(aggregate(.max), comparison, .literal(high), []),
            ]))
    }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: TextQueryable {
    /// Whether at least one element contains a string.
    public func contains(_ text: T.Element, options: StringOptions) -> Query<Bool> {
        element.contains(text, options: options)
    }

    /// Whether at least one element begins with a string.
    public func starts(with text: T.Element, options: StringOptions = []) -> Query<Bool> {
        element.starts(with: text, options: options)
    }

    /// Whether at least one element ends with a string.
    public func ends(with text: T.Element, options: StringOptions = []) -> Query<Bool> {
        element.ends(with: text, options: options)
    }

    /// Whether at least one element matches a pattern, in which `*` stands for any string and `?` for one character.
    public func like(_ pattern: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
        element.like(pattern, caseInsensitive: caseInsensitive)
    }
}

extension Query where T == Bool {
    /// The number of a list's elements that satisfy a condition: `($0.dogs.age > 2 && $0.dogs.name == "Rex").count >
    /// 1`. Parts about the object itself, or about all elements together, have the same result for each element.
    public var count: Query<Int> {
        let condition = filter
        guard let collection = condition.collection else {
            preconditionFailure(
                "count needs a condition on a list's elements, but '\(condition)' doesn't refer to a list.")
        }
        return Query<Int>(node: .operand(.count(collection, condition.onElements(of: collection))))
    }
}

extension Filter {
    /// The list whose elements the condition is about, which is the one that leads to all others. If only the lists
    /// inside elements are counted, as in `$0.dogs.toys.count`, it's the path's first name.
    fileprivate var collection: PropertyPath? {
        switch self {
        case .quantified(.any, let path, _): path
        case .and(let parts), .or(let parts):
            parts.compactMap(\.collection).min { $0.names.count < $1.names.count }
        case .not(let inner): inner.collection
        case .compare(let left, _, let right, _): left.collection ?? right.collection
        case .constant, .quantified, .between, .isIn, .text: nil
        }
    }

    /// If this condition is about a list's elements, the condition on one element.
    fileprivate func onElements(of list: PropertyPath) -> Filter {
        switch self {
        case .constant: self
        case .and(let parts): .all(parts.map { $0.onElements(of: list) })
        case .or(let parts): .any(parts.map { $0.onElements(of: list) })
        case .not(let inner): .not(inner.onElements(of: list))
        case .quantified(.any, list, let inner): inner
        case .quantified(let quantifier, let path, let inner):
            if let rest = path.dropping(list) {
                .quantified(quantifier, rest, inner)
            } else {
                preconditionFailure(
                    "count needs a condition on one list's elements, but this one refers to '\(list)' and '\(path)'.")
            }
        case .compare(let left, let comparison, let right, let options):
            .compare(left.onElement(of: list), comparison, right.onElement(of: list), options)
        case .between(let operand, let low, let high):
            .between(operand.onElement(of: list), low.onElement(of: list), high.onElement(of: list))
        case .isIn(let operand, let literals, let options): .isIn(operand.onElement(of: list), literals, options)
        case .text(let left, let test, let right, let options):
            .text(left.onElement(of: list), test, right.onElement(of: list), options)
        }
    }
}

extension FilterOperand {
    /// The list whose elements have the lists that are counted.
    fileprivate var collection: PropertyPath? {
        switch self {
        case .count(let path, _), .aggregate(_, let path, _):
            path.names.count > 1 ? PropertyPath(Array(path.names.prefix(1))) : nil
        case .literal, .property, .element, .length, .outer: nil
        }
    }

    /// The operand as seen from a list's element. Operands that aren't about the element belong to the object.
    fileprivate func onElement(of list: PropertyPath) -> FilterOperand {
        switch self {
        case .count(let path, let condition):
            path.dropping(list).map { .count($0, condition) } ?? seenFromElement()
        case .aggregate(let aggregate, let path, let value):
            path.dropping(list).map { .aggregate(aggregate, $0, value) } ?? seenFromElement()
        case .literal, .property, .element, .length, .outer: seenFromElement()
        }
    }
}

extension PropertyPath {
    /// What remains of this path after the given one. Nil if it doesn't start with that path or nothing remains.
    fileprivate func dropping(_ path: PropertyPath) -> PropertyPath? {
        names.count > path.names.count && names.starts(with: path.names)
            ? PropertyPath(Array(names.dropFirst(path.names.count))) : nil
    }
}
