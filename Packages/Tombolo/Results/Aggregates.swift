public import Foundation
public import TomboloModel
internal import TomboloSQLiteStore

/// Types that have a smallest and a greatest value.
public protocol MinMaxType: Persistable {}

/// Types whose values can be added.
public protocol AddableType: Persistable {}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {}
extension Double: MinMaxType, AddableType {}
extension Decimal128: MinMaxType, AddableType {}
extension Date: MinMaxType {}

extension Results {
    /// The smallest value of a property; nil where no object has one.
    public func min<T: MinMaxType>(ofProperty property: String) -> T? { aggregate(.min, property) }

    /// The greatest value of a property; nil where no object has one.
    public func max<T: MinMaxType>(ofProperty property: String) -> T? { aggregate(.max, property) }

    /// The sum of a property's values; nil counts as nothing.
    public func sum<T: AddableType>(ofProperty property: String) -> T { aggregate(.sum, property) ?? T._defaultValue() }

    /// The average of a property's values, nil ones aside; nil where no object has one.
    public func average<T: AddableType>(ofProperty property: String) -> T? { aggregate(.average, property) }

    private func aggregate<T: Persistable>(_ aggregate: Aggregate, _ property: String) -> T? {
        let value = content.core.aggregate(aggregate, property, content.query)
        guard !value.isNull else { return nil }
        if case .int = T._propertyType, case .double(let number) = value { return T._from(.int(Int64(number))) }
        switch (T._propertyType, value) {
        case (.float, .int(let number)), (.double, .int(let number)): return T._from(.double(Double(number)))
        case (.decimal128, .int(let number)): return T._from(.decimal(Decimal128(number)))
        default: return T._from(value)
        }
    }
}

/// What is asked of the values of a property.
enum Aggregate: String {
    case min
    case max
    case sum
    case average = "avg"
}

extension RealmCore {
    /// Computed by SQLite. A property that cannot be aggregated stops the program.
    func aggregate(_ aggregate: Aggregate, _ property: String, _ query: ObjectQuery) -> Value {
        let type = classes[query.classIndex]
        guard let column = type.schema.columnIndex(property) else {
            let hint = property.nearest(in: type.schema.columns.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
            programError("\(type.schema.name) has no property '\(property)'\(hint)")
        }
        let stored = type.table.storedTypes[column]
        let isExtreme = aggregate == .min || aggregate == .max
        let result: PropertyType
        switch stored {
        case .int, .double, .decimal128:
            result = if aggregate == .average, stored != .decimal128 { .double } else { stored }
        case .date where isExtreme: result = stored
        default:
            programError(
                "The \(aggregate) of '\(type.schema.name).\(property)' cannot be computed: it is a "
                    + "\(type.schema.columns[column].type.name).")
        }
        let function = stored == .decimal128 ? "decimal_\(aggregate.rawValue)" : aggregate.rawValue
        var query = query
        query.sorts = []
        return run(
            query, selecting: "\(function)(o.\(type.table.columnNames[column]))", limit: nil, ordered: false
        ) { statement in
            try statement.step() ? statement.value(at: 0, as: result) : .null
        }
    }
}

extension List where Element: ObjectBase {
    /// The smallest value of a property; nil where no element has one.
    public func min<T: MinMaxType>(ofProperty property: String) -> T? { extreme(property) { $0 < 0 } }

    /// The greatest value of a property; nil where no element has one.
    public func max<T: MinMaxType>(ofProperty property: String) -> T? { extreme(property) { $0 > 0 } }

    /// The sum of a property's values; nil counts as nothing.
    public func sum<T: AddableType & AdditiveArithmetic>(ofProperty property: String) -> T {
        values(property).reduce(.zero, +)
    }

    /// The average of a property's values, nil ones aside; nil where no element has one.
    public func average(ofProperty property: String) -> Double? {
        let numbers = map { $0[property] }.compactMap { value -> Double? in
            switch (value as? any Persistable)?._tomboloValue {
            case .int(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    private func values<T: Persistable>(_ property: String) -> [T] {
        compactMap { ($0[property] as? any Persistable)?._tomboloValue }.filter { !$0.isNull }.map { T._from($0) }
    }

    private func extreme<T: Persistable>(_ property: String, _ isBetter: (Int) -> Bool) -> T? {
        var best: T?
        for value in values(property) as [T] {
            guard let known = best else {
                best = value
                continue
            }
            if isBetter(value._tomboloValue.order(known._tomboloValue) ?? 0) { best = value }
        }
        return best
    }
}
