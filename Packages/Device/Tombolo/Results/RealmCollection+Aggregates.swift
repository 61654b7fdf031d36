public import Foundation
public import TomboloModel

/// Types that have a minimum and maximum.
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

/// Aggregates of a property, possibly through links (`"room.seats"`). Nil doesn't count.
extension RealmCollection {
    /// The minimum of a property's values, or nil if there are none.
    public func min<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, property)
    }

    /// The maximum of a property's values, or nil if there are none.
    public func max<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, property)
    }

    /// The sum of a property's values; zero if there are none.
    public func sum<T: Persistable>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        sum(property)
    }

    /// The average of a property's values, or nil if there are none.
    public func average<T: Persistable>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        aggregate(.average, property)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The minimum of a property's values, or nil if there are none.
    public func min<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, name(keyPath))
    }
    public func min<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, name(keyPath))
    }

    /// The maximum of a property's values, or nil if there are none.
    public func max<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, name(keyPath))
    }
    public func max<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, name(keyPath))
    }

    /// The sum of a property's values; zero if there are none.
    public func sum<T: Persistable>(of keyPath: KeyPath<Element, T>) -> T where T.PersistedType: AddableType {
        sum(name(keyPath))
    }
    public func sum<T: OptionalPersistable>(of keyPath: KeyPath<Element, T?>) -> T where T.PersistedType: AddableType {
        sum(name(keyPath))
    }

    /// The average of a property's values, or nil if there are none.
    public func average<T: Persistable, R: Persistable>(of keyPath: KeyPath<Element, T>) -> R?
    where T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, name(keyPath)) }
    public func average<T: OptionalPersistable, R: Persistable>(of keyPath: KeyPath<Element, T?>) -> R?
    where T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, name(keyPath)) }

    private func name(_ keyPath: PartialKeyPath<Element>) -> String { PropertyPath(of: keyPath).description }
}

/// Aggregates of lists of numbers and dates.
extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The minimum, or nil if there are no elements.
    public func min() -> Element? { aggregate(.min, "self") }
    /// The maximum, or nil if there are no elements.
    public func max() -> Element? { aggregate(.max, "self") }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum; zero if there are no elements.
    public func sum() -> Element { sum("self") }
    /// The average, or nil if there are no elements.
    public func average<T: Persistable>() -> T? where T.PersistedType: AddableType { aggregate(.average, "self") }
}

/// Aggregates of lists of optional numbers and dates. Nil doesn't count.
extension RealmCollection {
    /// The minimum, or nil if all elements are nil.
    public func min<T: OptionalPersistable>() -> T? where Element == T?, T.PersistedType: MinMaxType {
        aggregate(.min, "self")
    }
    /// The maximum, or nil if all elements are nil.
    public func max<T: OptionalPersistable>() -> T? where Element == T?, T.PersistedType: MinMaxType {
        aggregate(.max, "self")
    }
    /// The sum; zero if all elements are nil.
    public func sum<T: OptionalPersistable>() -> T where Element == T?, T.PersistedType: AddableType { sum("self") }
    /// The average, or nil if all elements are nil.
    public func average<T: OptionalPersistable, R: Persistable>() -> R?
    where Element == T?, T.PersistedType: AddableType, R.PersistedType: AddableType { aggregate(.average, "self") }
}

extension RealmCollection {
    private func sum<T: Persistable>(_ property: String) -> T { aggregate(.sum, property) ?? T._defaultValue() }

    fileprivate func aggregate<T: Persistable>(_ aggregate: FilterOperand.Aggregate, _ property: String) -> T? {
        let value: Value = self.aggregate(aggregate, property)
        return value.isNull ? nil : T._from(value.asNumber(T._propertyType))
    }

    /// Computed by SQLite, or in memory for lists without a table.
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
    /// The aggregate of values of one type, none of them nil.
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
            // The exact sum is `sum` and this many times 2^64.
            var overflows = 0
            for case .int(let number) in values {
                let next = sum.addingReportingOverflow(number)
                sum = next.partialValue
                if next.overflow { overflows += number < 0 ? -1 : 1 }
            }
            // SQLite's sum is clamped too when it's read.
            return .int(overflows == 0 ? sum : overflows < 0 ? .min : .max)
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
    /// A number converted to another number type, truncated towards zero and clamped to its range.
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
