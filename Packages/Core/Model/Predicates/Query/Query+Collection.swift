public import Foundation

/// Properties with several elements: ``List`` and ``LinkingObjects``.
public protocol QueryableCollection: Persistable {
    associatedtype Element: RealmCollectionValue
}

extension List: QueryableCollection {}
extension LinkingObjects: QueryableCollection {}

extension Query where T: QueryableCollection, T.Element: ObjectBase {
    /// A property of the elements. A comparison of it holds where it does for one element.
    public subscript<Value>(dynamicMember keyPath: KeyPath<T.Element, Value>) -> Query<Value> { appending(keyPath) }
}

extension Query where T: QueryableCollection {
    /// How many elements there are.
    public var count: Query<Int> {
        guard case .path(let path) = node else { preconditionFailure("Only lists have a count.") }
        return Query<Int>(node: .operand(.count(PropertyPath(path.names), .constant(true))))
    }

    /// Whether an element equals a value, or is an object.
    public func contains(_ value: T.Element) -> Query<Bool> { element == value }

    /// Whether an element is one of several values.
    public func containsAny(in values: some Sequence<T.Element>) -> Query<Bool> { element.in(values) }

    /// An element, as a comparison sees each.
    private var element: Query<T.Element> { Query<T.Element>(node: node) }

    public static func == (left: Query<T>, right: T.Element) -> Query<Bool> { left.element == right }
    public static func != (left: Query<T>, right: T.Element) -> Query<Bool> { left.element != right }
    public static func < (left: Query<T>, right: T.Element) -> Query<Bool> { left.element < right }
    public static func <= (left: Query<T>, right: T.Element) -> Query<Bool> { left.element <= right }
    public static func > (left: Query<T>, right: T.Element) -> Query<Bool> { left.element > right }
    public static func >= (left: Query<T>, right: T.Element) -> Query<Bool> { left.element >= right }
}

extension Query where T: QueryableCollection, T.Element: Comparable, T.Element.PersistedType: QueryOrdered {
    /// Whether all elements lie within a closed range, and there is one.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> { within(range) }

    /// Whether all elements lie within a half-open range, and there is one.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { within(range) }
}

extension Query where T: QueryableCollection {
    /// Whether all elements but nil lie within a closed range, and there is one.
    public func contains<Wrapped: OptionalPersistable & Comparable>(
        _ range: ClosedRange<Wrapped>
    ) -> Query<Bool> where T.Element == Wrapped?, Wrapped.PersistedType: QueryOrdered { within(range) }

    /// Whether all elements but nil lie within a half-open range, and there is one.
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
    /// Whether the text of an element contains another one.
    public func contains(_ text: T.Element, options: StringOptions) -> Query<Bool> {
        element.contains(text, options: options)
    }

    /// Whether the text of an element begins with another one.
    public func starts(with text: T.Element, options: StringOptions = []) -> Query<Bool> {
        element.starts(with: text, options: options)
    }

    /// Whether the text of an element ends with another one.
    public func ends(with text: T.Element, options: StringOptions = []) -> Query<Bool> {
        element.ends(with: text, options: options)
    }

    /// Whether the text of an element is like a pattern.
    public func like(_ pattern: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
        element.like(pattern, caseInsensitive: caseInsensitive)
    }
}

/// Types that have a least and a greatest value in a list.
public protocol QueryOrdered: Persistable {}
/// Types that have an average in a list.
public protocol QueryAveraged: QueryOrdered {
    associatedtype QueryAverage: Persistable = Double
}
/// Types that have a sum and an average in a list.
public protocol QueryNumeric: QueryAveraged {}

extension Int: QueryNumeric {}
extension Int8: QueryNumeric {}
extension Int16: QueryNumeric {}
extension Int32: QueryNumeric {}
extension Int64: QueryNumeric {}
extension Float: QueryNumeric {}
extension Double: QueryNumeric {}
extension Date: QueryOrdered {}
extension Decimal128: QueryNumeric {
    public typealias QueryAverage = Decimal128
}
extension Optional: QueryOrdered where Wrapped: QueryOrdered & OptionalPersistable {}
extension Optional: QueryAveraged where Wrapped: QueryAveraged & OptionalPersistable {
    public typealias QueryAverage = Wrapped.QueryAverage
}
extension Optional: QueryNumeric where Wrapped: QueryNumeric & OptionalPersistable {}

extension Query {
    func aggregate(_ aggregate: FilterOperand.Aggregate) -> FilterOperand {
        guard case .path(let path) = node, let (collection, rest) = path.split else {
            preconditionFailure("The query takes @\(aggregate.rawValue) of something that is no list.")
        }
        return .aggregate(aggregate, collection, rest)
    }
}

/// Of a property of a list's elements: `$0.dogs.age.max`.
extension Query where T: Persistable, T.PersistedType: QueryOrdered {
    public var min: Query<T> { Query<T>(node: .operand(aggregate(.min))) }
    public var max: Query<T> { Query<T>(node: .operand(aggregate(.max))) }
}

extension Query where T: Persistable, T.PersistedType: QueryNumeric {
    public var sum: Query<T> { Query<T>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T> { Query<T>(node: .operand(aggregate(.average))) }
}

extension Query where T: Persistable, T.PersistedType: QueryAveraged {
    /// For numbers that are none of the property's type: `$0.dogs.age.avg > 2.5`.
    @_disfavoredOverload
    public var avg: Query<T.PersistedType.QueryAverage> {
        Query<T.PersistedType.QueryAverage>(node: .operand(aggregate(.average)))
    }
}

/// Of a list of numbers: `$0.scores.max`.
extension Query where T: QueryableCollection, T.Element.PersistedType: QueryOrdered {
    public var min: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.min))) }
    public var max: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.max))) }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: QueryNumeric {
    public var sum: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.average))) }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: QueryAveraged {
    /// For numbers that are none of the elements' type: `$0.scores.avg > 2.5`.
    @_disfavoredOverload
    public var avg: Query<T.Element.PersistedType.QueryAverage> {
        Query<T.Element.PersistedType.QueryAverage>(node: .operand(aggregate(.average)))
    }
}

extension Query where T == Bool {
    /// How many elements of a list satisfy a condition on them: `($0.dogs.age > 2 && $0.dogs.name == "Rex").count > 1`.
    /// What it says of the object itself, or of all elements together, is the same for each.
    public var count: Query<Int> {
        let condition = filter
        guard let collection = condition.collection else {
            preconditionFailure(
                "The count of a condition is that of a list's elements; '\(condition)' is about no list.")
        }
        return Query<Int>(node: .operand(.count(collection, condition.onElements(of: collection))))
    }
}

extension Filter {
    /// The list whose elements the condition is about: the one that leads to all the others. Where lists of elements are
    /// counted only, `$0.dogs.toys.count`, the first name is the list's.
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

    /// The condition on one element, where this one is about the elements of a list.
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
                    "The count of a condition is that of one list's elements; this one is about '\(list)' and about "
                        + "'\(path)'.")
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
    /// The list whose elements' lists are counted.
    fileprivate var collection: PropertyPath? {
        switch self {
        case .count(let path, _), .aggregate(_, let path, _):
            path.names.count > 1 ? PropertyPath(Array(path.names.prefix(1))) : nil
        case .literal, .property, .element, .length, .outer: nil
        }
    }

    /// What belongs to an element of a list as the element sees it; the rest is the object's.
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
    /// What follows of the path after another one; nil where it does not begin with it, or ends there.
    fileprivate func dropping(_ path: PropertyPath) -> PropertyPath? {
        names.count > path.names.count && names.starts(with: path.names)
            ? PropertyPath(Array(names.dropFirst(path.names.count))) : nil
    }
}
