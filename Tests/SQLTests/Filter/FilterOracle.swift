import Foundation
import TomboloModel

/// Evaluates conditions on documents in the simplest way, for comparison with SQL.
struct FilterOracle {
    let world: FilterWorld

    /// The subject of a condition: an object, or an element of a list of values.
    enum Subject {
        case document(Document)
        case value(Value)
    }

    func evaluate(_ filter: Filter, _ subjects: [Subject]) -> Bool {
        switch filter {
        case .constant(let value): return value
        case .and(let parts): return parts.allSatisfy { evaluate($0, subjects) }
        case .or(let parts): return parts.contains { evaluate($0, subjects) }
        case .not(let inner): return !evaluate(inner, subjects)
        case .quantified(let quantifier, let path, let inner):
            let results = elements(path, subjects).map { evaluate(inner, subjects + [$0]) }
            switch quantifier {
            case .any: return results.contains(true)
            case .all: return !results.contains(false)
            case .none: return !results.contains(true)
            }
        case .compare(let left, let comparison, let right, let options):
            let (a, b) = (folded(value(left, subjects), options), folded(value(right, subjects), options))
            let order = order(a, b)
            switch comparison {
            case .equal: return a.isNull || b.isNull ? a.isNull && b.isNull : order == 0
            case .notEqual: return a.isNull || b.isNull ? a.isNull != b.isNull : order != 0
            case .less: return order.map { $0 < 0 } ?? false
            case .lessOrEqual: return order.map { $0 <= 0 } ?? (a.isNull && b.isNull)
            case .greater: return order.map { $0 > 0 } ?? false
            case .greaterOrEqual: return order.map { $0 >= 0 } ?? (a.isNull && b.isNull)
            }
        case .between(let operand, let low, let high):
            let value = value(operand, subjects)
            guard let a = order(self.value(low, subjects), value), let b = order(value, self.value(high, subjects))
            else {
                return false
            }
            return a <= 0 && b <= 0
        case .isIn(let operand, let literals, let options):
            let value = folded(value(operand, subjects), options)
            return literals.contains { literal in
                let literal = folded(literal, options)
                return value.isNull || literal.isNull ? value.isNull && literal.isNull : order(value, literal) == 0
            }
        case .text(let left, let test, let right, let options):
            return text(value(left, subjects), test, value(right, subjects), options)
        }
    }

    private func text(_ left: Value, _ test: Filter.TextTest, _ right: Value, _ options: StringOptions) -> Bool {
        let (a, b): ([UInt8], [UInt8])
        switch (folded(left, options), folded(right, options)) {
        case (.string(let subject), .string(let text)): (a, b) = (Array(subject.utf8), Array(text.utf8))
        case (.data(let subject), .data(let text)): (a, b) = (Array(subject), Array(text))
        case (let subject, .null): return test != .like || subject.isNull
        default: return false
        }
        switch test {
        case .contains: return b.isEmpty || a.indices.contains { a[$0...].starts(with: b) }
        case .beginsWith: return a.starts(with: b)
        case .endsWith: return a.reversed().starts(with: b.reversed())
        case .like:
            let subject = Array(String(decoding: a, as: UTF8.self).unicodeScalars)
            return like(subject[...], Array(String(decoding: b, as: UTF8.self).unicodeScalars)[...])
        }
    }

    private func like(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" { return (text.startIndex...text.endIndex).contains { like(text[$0...], pattern.dropFirst()) } }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return like(text.dropFirst(), pattern.dropFirst())
    }

    private func folded(_ value: Value, _ options: StringOptions) -> Value {
        guard !options.isEmpty, case .string(let text) = value else { return value }
        return .string(TextFolding(rawValue: options.rawValue).fold(text))
    }

    private func order(_ a: Value, _ b: Value) -> Int? {
        switch (a, b) {
        case (.int(let a), .double(let b)): Double(a) == b ? 0 : (Double(a) < b ? -1 : 1)
        case (.double(let a), .int(let b)): a == Double(b) ? 0 : (a < Double(b) ? -1 : 1)
        // The sum of an empty list of decimals is an integer 0.
        case (.int(let a), .decimal): Value.decimal(Decimal128(a)).order(b)
        case (.decimal, .int(let b)): a.order(.decimal(Decimal128(b)))
        default: a.order(b)
        }
    }

    // MARK: Operands

    private func value(_ operand: FilterOperand, _ subjects: [Subject]) -> Value {
        switch operand {
        case .literal(let value): return value
        case .outer(let inner): return value(inner, subjects.dropLast())
        case .element:
            switch subjects.last {
            case .value(let value): return value
            case .document(let document): return document.key
            case nil: return .null
            }
        case .property(let path):
            guard case .document(let document)? = subjects.last else { return .null }
            return value(of: follow(path.names[...], .embedded(document)).first ?? .value(.null))
        case .length(let path):
            switch value(.property(path), subjects) {
            case .string(let text): return .int(Int64(text.utf8.count))
            case .data(let data): return .int(Int64(data.count))
            default: return .null
            }
        case .count(let path, let condition):
            return .int(Int64(elements(path, subjects).count { evaluate(condition, subjects + [$0]) }))
        case .aggregate(let aggregate, let path, let inner):
            let values = elements(path, subjects).map { value(inner, subjects + [$0]) }.filter { !$0.isNull }
            return self.aggregate(aggregate, values)
        }
    }

    private func aggregate(_ aggregate: FilterOperand.Aggregate, _ values: [Value]) -> Value {
        switch aggregate {
        case .min: return values.min { (order($0, $1) ?? 0) < 0 } ?? .null
        case .max: return values.max { (order($0, $1) ?? 0) < 0 } ?? .null
        case .sum: return values.isEmpty ? .int(0) : sum(values)
        case .average:
            guard !values.isEmpty else { return .null }
            switch sum(values) {
            case .int(let sum): return .double(Double(sum) / Double(values.count))
            case .double(let sum): return .double(sum / Double(values.count))
            case .decimal(let sum): return .decimal(sum / Decimal128(values.count))
            default: return .null
            }
        }
    }

    private func sum(_ values: [Value]) -> Value {
        values.dropFirst().reduce(values[0]) { sum, value in
            switch (sum, value) {
            case (.int(let a), .int(let b)): .int(a + b)
            case (.double(let a), .double(let b)): .double(a + b)
            case (.decimal(let a), .decimal(let b)): .decimal(a + b)
            default: .null
            }
        }
    }

    private func value(of field: Document.Field) -> Value {
        switch field {
        case .value(let value): value
        case .link(let className, let key): world.document(className, key) == nil ? .null : key
        case .embedded(let document): document == nil ? .null : .bool(true)
        case .list: .null
        }
    }

    private func elements(_ path: PropertyPath, _ subjects: [Subject]) -> [Subject] {
        guard case .document(let document)? = subjects.last else { return [] }
        return follow(path.names[...], .embedded(document)).compactMap { field in
            switch field {
            case .value(let value): .value(value)
            case .link(let className, let key): world.document(className, key).map { .document($0) }
            case .embedded(let document): document.map { .document($0) }
            case .list: nil
            }
        }
    }

    /// The fields that a path leads to: several if it goes through lists, none if it goes through a missing object.
    private func follow(_ names: ArraySlice<String>, _ field: Document.Field) -> [Document.Field] {
        if case .list(let elements) = field { return elements.flatMap { follow(names, $0) } }
        guard let name = names.first else { return [field] }
        let document: Document? =
            switch field {
            case .link(let className, let key): world.document(className, key)
            case .embedded(let document): document
            case .value, .list: nil
            }
        guard let next = document?.fields[name] else { return [] }
        return follow(names.dropFirst(), next)
    }
}
