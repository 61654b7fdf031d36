public import Foundation

/// Types whose values in a list have a minimum and maximum.
public protocol QueryOrdered: Persistable {}
/// Types whose values in a list have an average.
public protocol QueryAveraged: QueryOrdered {
    associatedtype QueryAverage: Persistable = Double
}
/// Types whose values in a list have a sum and an average.
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
            preconditionFailure("The query uses @\(aggregate.rawValue) on something that isn't a list.")
        }
        return .aggregate(aggregate, collection, rest)
    }
}

/// Aggregates over a property of a list's elements: `$0.dogs.age.max`. They ignore nil. Without any values, the sum is
/// 0 and the other aggregates are nil.
extension Query where T: Persistable, T.PersistedType: QueryOrdered {
    public var min: Query<T> { Query<T>(node: .operand(aggregate(.min))) }
    public var max: Query<T> { Query<T>(node: .operand(aggregate(.max))) }
}

extension Query where T: Persistable, T.PersistedType: QueryNumeric {
    public var sum: Query<T> { Query<T>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T> { Query<T>(node: .operand(aggregate(.average))) }
}

extension Query where T: Persistable, T.PersistedType: QueryAveraged {
    /// The average, for comparison with a number of another type than the property's: `$0.dogs.age.avg > 2.5`.
    @_disfavoredOverload
    public var avg: Query<T.PersistedType.QueryAverage> {
        Query<T.PersistedType.QueryAverage>(node: .operand(aggregate(.average)))
    }
}

/// Aggregates over a list of numbers: `$0.scores.max`. They ignore nil. Without any values, the sum is 0 and the other
/// aggregates are nil.
extension Query where T: QueryableCollection, T.Element.PersistedType: QueryOrdered {
    public var min: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.min))) }
    public var max: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.max))) }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: QueryNumeric {
    public var sum: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.sum))) }
    public var avg: Query<T.Element> { Query<T.Element>(node: .operand(aggregate(.average))) }
}

extension Query where T: QueryableCollection, T.Element.PersistedType: QueryAveraged {
    /// The average, for comparison with a number of another type than the elements': `$0.scores.avg > 2.5`.
    @_disfavoredOverload
    public var avg: Query<T.Element.PersistedType.QueryAverage> {
        Query<T.Element.PersistedType.QueryAverage>(node: .operand(aggregate(.average)))
    }
}
