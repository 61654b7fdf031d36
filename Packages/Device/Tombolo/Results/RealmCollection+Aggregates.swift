public import Foundation
public import TomboloModel

/// Types that have a smallest and a greatest value.
public protocol MinMaxType: OptionalPersistable, Comparable {}

/// Types whose values can be added.
public protocol AddableType: OptionalPersistable {}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {}
extension Double: MinMaxType, AddableType {}
extension Decimal128: MinMaxType, AddableType {}
extension Date: MinMaxType {}

/// Of a property, which may lie behind links (`"room.seats"`). Nil ones do not count.
extension RealmCollection {
    /// The smallest value of a property; nil where no element has one.
    public func min<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, property)
    }

    /// The greatest value of a property; nil where no element has one.
    public func max<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, property)
    }

    /// The sum of a property's values; zero where no element has one.
    public func sum<T: Persistable>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        sum(property)
    }

    /// The average of a property's values; nil where no element has one.
    public func average<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        aggregate(.average, property)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property; nil where no object has one.
    public func min<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, name(keyPath))
    }
    public func min<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, name(keyPath))
    }

    /// The greatest value of a property; nil where no object has one.
    public func max<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, name(keyPath))
    }
    public func max<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, name(keyPath))
    }

    /// The sum of a property's values; zero where no object has one.
    public func sum<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T where T.PersistedType: AddableType {
        sum(name(keyPath))
    }
    public func sum<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T where T.PersistedType: AddableType {
        sum(name(keyPath))
    }

    /// The average of a property's values; nil where no object has one.
    public func average<T: Persistable, R: Persistable>(of keyPath: KeyPath<Element, T>) -> R?
    where T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, name(keyPath)) }
    public func average<T: OptionalPersistable, R: Persistable>(of keyPath: KeyPath<Element, T?>) -> R?
    where T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, name(keyPath)) }

    private func name(_ keyPath: PartialKeyPath<Element>) -> String { PropertyPath(of: keyPath).description }
}

/// Of lists of numbers and dates.
extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The smallest element; nil without elements.
    public func min() -> Element? { aggregate(.min, "self") }
    /// The greatest element; nil without elements.
    public func max() -> Element? { aggregate(.max, "self") }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum of the elements; zero without any.
    public func sum() -> Element { sum("self") }
    /// The average of the elements; nil without any.
    public func average<T: Persistable>() -> T? where T.PersistedType: AddableType { aggregate(.average, "self") }
}

/// Of lists of optional numbers and dates, whose nils do not count.
extension RealmCollection {
    /// The smallest element; nil where all are.
    public func min<T: OptionalPersistable>() -> T? where Element == T?, T.PersistedType: MinMaxType {
        aggregate(.min, "self")
    }
    /// The greatest element; nil where all are.
    public func max<T: OptionalPersistable>() -> T? where Element == T?, T.PersistedType: MinMaxType {
        aggregate(.max, "self")
    }
    /// The sum of the elements; zero where all are nil.
    public func sum<T: OptionalPersistable>() -> T where Element == T?, T.PersistedType: AddableType { sum("self") }
    /// The average of the elements; nil where all are.
    public func average<T: OptionalPersistable, R: Persistable>() -> R?
    where Element == T?, T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, "self") }
}

extension RealmCollection {
    private func sum<T: Persistable>(_ property: String) -> T { aggregate(.sum, property) ?? T._defaultValue() }

    fileprivate func aggregate<T: Persistable>(_ aggregate: FilterOperand.Aggregate, _ property: String) -> T? {
        let value: Value = self.aggregate(aggregate, property)
        return value.isNull ? nil : T._from(value.asNumber(T._propertyType))
    }

    /// By SQLite; in memory for lists that have no table of their own.
    func aggregate(_ aggregate: FilterOperand.Aggregate, _ property: String) -> Value {
        if isInMemory { return aggregate.of(storedValues(property)) }
        guard let results = _results else { return aggregate.of([]) }
        let path = results.column(SortDescriptor(keyPath: property).path)
        return results.content.core.aggregate(aggregate, path, results.content.query)
    }

    private var isInMemory: Bool {
        guard let list = self as? List<Element> else { return false }
        return !(list.storage is ManagedList)
    }

    private func storedValues(_ property: String) -> [Value] {
        compactMap { element -> Value? in
            guard case .object(let object) = element._tomboloStored else { return element._tomboloValue }
            return (object.value(forKeyPath: property) as? any Persistable)?._tomboloValue
        }
        .filter { !$0.isNull }
    }
}

extension FilterOperand.Aggregate {
    /// Of values of one type, none of them nil.
    fileprivate func of(_ values: [Value]) -> Value {
        guard let first = values.first else { return self == .sum ? .int(0) : .null }
        switch self {
        case .min: return values.min { ($0.order($1) ?? 0) < 0 } ?? .null
        case .max: return values.max { ($0.order($1) ?? 0) < 0 } ?? .null
        case .sum, .average: break
        }
        if case .decimal = first {
            let sum = values.reduce(Decimal128(0)) { if case .decimal(let number) = $1 { $0 + number } else { $0 } }
            return .decimal((self == .sum ? sum : sum / Decimal128(Int64(values.count))).withoutTrailingZeros)
        }
        if self == .sum, case .int = first {
            var sum: Int64 = 0
            for case .int(let number) in values { sum &+= number }
            return .int(sum)
        }
        let sum = values.reduce(0.0) { sum, value in
            switch value {
            case .int(let number): sum + Double(number)
            case .double(let number): sum + number
            default: sum
            }
        }
        return .double(self == .sum ? sum : sum / Double(values.count))
    }
}

extension Value {
    /// A number as a value of another number type, cut towards zero and to the range where it does not fit.
    fileprivate func asNumber(_ type: PropertyType) -> Value {
        switch (self, type) {
        case (.double(let number), .int):
            .int(Int64(exactly: number.rounded(.towardZero)) ?? (number > 0 ? .max : .min))
        case (.int(let number), .float), (.int(let number), .double): .double(Double(number))
        case (.int(let number), .decimal128): .decimal(Decimal128(number))
        case (.double(let number), .decimal128): .decimal(Decimal128(number))
        case (.decimal(let number), .double), (.decimal(let number), .float): .double(number.doubleValue)
        default: self
        }
    }
}
