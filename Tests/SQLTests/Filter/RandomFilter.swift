import Foundation
import RandomValues
import TomboloModel

/// Random conditions on the objects of a ``FilterWorld``.
struct RandomFilter {
    var world: FilterWorld
    private let schema: Schema

    init(_ world: FilterWorld) {
        self.world = world
        schema = world.schema
    }

    private static let maximumDepth = 4

    mutating func filter() -> Filter {
        guard let item = schema["Parent"] else { return .constant(true) }
        return filter([item], 0)
    }

    private mutating func filter(_ scopes: [ClassSchema], _ depth: Int) -> Filter {
        switch world.number(0...(depth >= Self.maximumDepth ? 5 : 11)) {
        case 6: return .and((0..<world.number(0...3)).map { _ in filter(scopes, depth + 1) })
        case 7: return .or((0..<world.number(0...3)).map { _ in filter(scopes, depth + 1) })
        case 8: return .not(filter(scopes, depth + 1))
        case 9, 10: return quantified(scopes, depth) ?? comparison(scopes)
        case 11:
            guard let (path, item) = collection(scopes) else { return comparison(scopes) }
            let count = FilterOperand.count(path, filter(scopes + [item], depth + 2))
            return .compare(count, comparisonOperator(), .literal(.int(Int64(world.number(0...3)))), [])
        case 0 where world.flag(10): return .constant(world.flag())
        default: return comparison(scopes)
        }
    }

    private mutating func quantified(_ scopes: [ClassSchema], _ depth: Int) -> Filter? {
        guard let (path, item) = collection(scopes) else { return nil }
        return .quantified(world.pick(Filter.Quantifier.allCases), path, filter(scopes + [item], depth + 2))
    }

    private mutating func comparisonOperator() -> Predicate.Comparison { world.pick(Predicate.Comparison.allCases) }

    private mutating func options() -> StringOptions { StringOptions(rawValue: world.number(0...3)) }

    private mutating func comparison(_ scopes: [ClassSchema]) -> Filter {
        let (operand, type) = operand(scopes)
        switch type {
        case .link, .embedded:
            if world.flag() || type.isEmbedded {
                return .compare(operand, world.flag() ? .equal : .notEqual, .literal(.null), [])
            }
            if world.flag() {
                let (one, other) = (world.literal(type), world.literal(type))
                return .isIn(operand, [one, one == other ? .null : other], [])
            }
            return .compare(operand, world.flag() ? .equal : .notEqual, .literal(world.literal(type)), [])
        case .string where world.flag():
            return .text(
                operand, world.pick(Filter.TextTest.allCases), other(scopes, type, nullable: false), options())
        case .string where world.flag():
            return .compare(operand, comparisonOperator(), other(scopes, type), options())
        case .string where world.flag():
            return .isIn(operand, (0..<world.number(0...3)).map { _ in literal(type) }, options())
        case .data where world.flag():
            return .text(
                operand, world.pick([.contains, .beginsWith, .endsWith]), other(scopes, type, nullable: false), [])
        default: break
        }
        switch world.number(0...5) {
        case 0: return .between(operand, other(scopes, type), other(scopes, type))
        case 1: return .isIn(operand, (0..<world.number(0...3)).map { _ in literal(type) }, [])
        case 2: return .compare(other(scopes, type), comparisonOperator(), operand, [])
        default: return .compare(operand, comparisonOperator(), other(scopes, type), [])
        }
    }

    private mutating func literal(_ type: PropertyType) -> Value { world.flag(6) ? .null : world.literal(type) }

    /// A literal, or an operand of a comparable type.
    private mutating func other(_ scopes: [ClassSchema], _ type: PropertyType, nullable: Bool = true) -> FilterOperand {
        if world.flag(4) {
            for _ in 0..<20 {
                let (operand, other) = operand(scopes)
                if other.isComparable(with: type) { return operand }
            }
        }
        return .literal(nullable ? literal(type) : world.literal(type))
    }

    private mutating func operand(_ scopes: [ClassSchema]) -> (FilterOperand, PropertyType) {
        guard let item = scopes.last else { return (.literal(.null), .bool) }
        if scopes.count > 1, world.flag(6) {
            let (operand, type) = operand(scopes.dropLast())
            return (.outer(operand), type)
        }
        if let column = item.scalarElement { return (.element, column.type) }
        if world.flag(8), let (path, elements) = collection(scopes) {
            let (value, type): (FilterOperand, PropertyType)
            if let column = elements.scalarElement {
                (value, type) = (.element, column.type)
            } else {
                let (path, column) = property(elements)
                (value, type) = (.property(path), column.type)
            }
            let aggregate = world.pick(FilterOperand.Aggregate.allCases)
            switch (type, aggregate) {
            case (.int, .average): return (.aggregate(aggregate, path, value), .double)
            case (.int, _), (.float, _), (.double, _), (.decimal128, _), (.date, .min), (.date, .max):
                return (.aggregate(aggregate, path, value), type)
            default: return (.count(path, .constant(true)), .int(bits: 64))
            }
        }
        if item.owner == nil, world.flag(12) { return (.element, .link(to: item.name)) }
        let (path, column) = property(item)
        if column.type == .string || column.type == .data, world.flag(8) {
            return (.length(path), .int(bits: 64))
        }
        return (.property(path), column.type)
    }

    /// A column, possibly behind links.
    private mutating func property(_ start: ClassSchema) -> (PropertyPath, Column) {
        var item = start
        var names: [String] = []
        while true {
            let column = world.pick(item.columns.filter { !Self.isSystem($0, item) })
            names += column.name.split(separator: ".").map(String.init)
            guard let target = column.linkTarget.flatMap({ schema[$0] }), names.count < 6, world.flag() else {
                return (PropertyPath(names), column)
            }
            item = target
        }
    }

    private static func isSystem(_ column: Column, _ item: ClassSchema) -> Bool {
        item.owner != nil && column.name.hasPrefix("_")
    }

    /// A list, possibly behind links and other lists.
    private mutating func collection(_ scopes: [ClassSchema]) -> (PropertyPath, ClassSchema)? {
        guard var item = scopes.last, item.scalarElement == nil else { return nil }
        var names: [String] = []
        while true {
            let links = item.columns.filter { $0.linkTarget != nil && !Self.isSystem($0, item) }
            if world.flag(4), names.count < 4, !links.isEmpty {
                let link = world.pick(links)
                names += link.name.split(separator: ".").map(String.init)
                guard let target = link.linkTarget.flatMap({ schema[$0] }) else { return nil }
                item = target
                continue
            }
            let lists = item.lists.map(\.name) + item.linkingObjects.keys.sorted()
            guard !lists.isEmpty else { return nil }
            names += world.pick(lists).split(separator: ".").map(String.init)
            guard let elements = try? schema.elements(at: PropertyPath(names), of: scopes[scopes.count - 1]) else {
                return nil
            }
            item = elements
            if item.scalarElement != nil || names.count > 3 || !world.flag(4) { return (PropertyPath(names), item) }
        }
    }
}

extension PropertyType {
    fileprivate var isEmbedded: Bool { if case .embedded = self { true } else { false } }

    fileprivate func isComparable(with other: PropertyType) -> Bool {
        func isNumber(_ type: PropertyType) -> Bool {
            switch type {
            case .int, .float, .double: true
            default: false
            }
        }
        return isNumber(self) && isNumber(other) || self == other
    }
}
