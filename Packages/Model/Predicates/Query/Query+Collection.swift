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

extension Query where T: QueryableCollection, T.Element: QueryOrdered & Comparable {
    /// Whether all elements lie within a closed range, and there is one.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        extremes(range.lowerBound, .lessOrEqual, range.upperBound)
    }

    /// Whether all elements lie within a half-open range, and there is one.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> {
        extremes(range.lowerBound, .less, range.upperBound)
    }

    private func extremes(
        _ low: T.Element, _ comparison: Predicate.Comparison, _ high: T.Element
    ) -> Query<Bool> {
        condition(
            .all([
                .compare(aggregate(.min), .greaterOrEqual, .literal(low.queryLiteral), []),
                .compare(aggregate(.max), comparison, .literal(high.queryLiteral), []),
            ]))
    }
}

extension Query where T: QueryableCollection, T.Element: TextQueryable {
    private var text: Query<T.Element> { Query<T.Element>(node: node) }

    /// Whether the text of an element contains another one.
    public func contains(_ text: String, options: StringOptions) -> Query<Bool> {
        self.text.contains(text, options: options)
    }

    /// Whether the text of an element begins with another one.
    public func starts(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text.starts(with: text, options: options)
    }

    /// Whether the text of an element ends with another one.
    public func ends(with text: String, options: StringOptions = []) -> Query<Bool> {
        self.text.ends(with: text, options: options)
    }

    /// Whether the text of an element is like a pattern.
    public func like(_ pattern: String, caseInsensitive: Bool = false) -> Query<Bool> {
        text.like(pattern, caseInsensitive: caseInsensitive)
    }
}

/// Types that have a least and a greatest value in a list.
public protocol QueryOrdered: Persistable {}
/// Types that have a sum and an average in a list.
public protocol QueryNumeric: QueryOrdered {
    associatedtype QueryAverage: Persistable = Double
}

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
extension Optional: QueryNumeric where Wrapped: QueryNumeric & OptionalPersistable {
    public typealias QueryAverage = Wrapped.QueryAverage
}

extension Query {
    func aggregate(_ aggregate: FilterOperand.Aggregate) -> FilterOperand {
        guard case .path(let path) = node, let (collection, rest) = path.split else {
            preconditionFailure("The query takes @\(aggregate.rawValue) of something that is no list.")
        }
        return .aggregate(aggregate, collection, rest)
    }
}

/// Of a property of a list's elements: `$0.dogs.age.max`.
extension Query where T: QueryOrdered {
    public var min: Query<T> { Query<T>(node: .operand(aggregate(.min))) }
    public var max: Query<T> { Query<T>(node: .operand(aggregate(.max))) }
}

extension Query where T: QueryNumeric {
    public var sum: Query<T> { Query<T>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T.QueryAverage> { Query<T.QueryAverage>(node: .operand(aggregate(.average))) }
}

/// Of a list of numbers: `$0.scores.max`.
extension Query where T: QueryableCollection, T.Element: QueryOrdered {
    public var min: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.min))) }
    public var max: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.max))) }
}

extension Query where T: QueryableCollection, T.Element: QueryNumeric {
    public var sum: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T.Element.QueryAverage> {
        Query<T.Element.QueryAverage>(node: .operand(aggregate(.average)))
    }
}

extension Query where T == Bool {
    /// How many elements of a list satisfy a condition on them: `($0.dogs.age > 2 && $0.dogs.name == "Rex").count > 1`.
    public var count: Query<Int> {
        var collection: PropertyPath?
        let condition = filter.onElements(of: &collection)
        guard let collection else {
            preconditionFailure("The count of a condition is that of a list's elements; this one is about no list.")
        }
        return Query<Int>(node: .operand(.count(collection, condition)))
    }
}

extension Filter {
    /// The condition on one element, where this one is about the elements of one list.
    fileprivate func onElements(of collection: inout PropertyPath?) -> Filter {
        switch self {
        case .quantified(.any, let path, let inner):
            guard collection == nil || collection == path else {
                preconditionFailure(
                    "The count of a condition is that of one list's elements; this one is about '\(path)' and about "
                        + "'\(collection.map(\.description) ?? "")'.")
            }
            collection = path
            return inner
        case .and(let parts): return .all(parts.map { $0.onElements(of: &collection) })
        case .or(let parts): return .any(parts.map { $0.onElements(of: &collection) })
        case .not(let inner): return .not(inner.onElements(of: &collection))
        case .constant: return self
        case .quantified, .compare, .between, .isIn, .text:
            preconditionFailure("The count of a condition is that of a list's elements; '\(self)' is not about them.")
        }
    }
}
