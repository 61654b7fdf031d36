import Foundation
import TomboloModel
import TomboloRules

/// Evaluates a rule as simply as possible and shares nothing with the product: it walks the rule's JSON for one object
/// and one user. Values are texts and numbers; ids are in lower case.
struct RuleOracle {
    /// A value as the oracle compares it. Integers keep all digits, which a Double would round.
    indirect enum Plain {
        case bool(Bool)
        case whole(Int64)
        case fraction(Double)
        case text(String)
        case list([Plain])
        case object([String: Plain])
    }

    let item: ClassSchema
    let schema: Schema
    let row: Row
    let subject: Subject

    func holds(_ expression: RuleJSON) -> Bool {
        switch expression {
        case .bool(let value): value
        case .string(let text): text == "%%true"
        case .object(let entries): entries.allSatisfy { holds($0.key, $0.value) }
        default: false
        }
    }

    private func holds(_ key: String, _ value: RuleJSON) -> Bool {
        let parts: [RuleJSON] = if case .array(let parts) = value { parts } else { [] }
        switch key {
        case "$and", "%and": return parts.allSatisfy(holds)
        case "$or", "%or": return parts.contains(where: holds)
        case "%nor": return !parts.contains(where: holds)
        case "$not", "%not", "%%false": return !holds(value)
        case "%%true": return holds(value)
        default: break
        }
        if key.hasPrefix("%%") { return test(lookUp(key), value, type: nil) }
        guard let index = item.columnIndex(key) else { return false }
        let type = schema.storedType(of: item.columns[index])
        return test(Self.plain(row[index]), value, type: type)
    }

    /// - Parameter type: the column's type, or nil for the user's data, whose lists stand for their elements.
    private func test(_ found: Plain?, _ test: RuleJSON, type: PropertyType?) -> Bool {
        guard case .object(let entries) = test, let entry = entries.first, entry.key != "%stringToOid",
            entry.key != "$oid"
        else { return equal(found, test, type) }
        let (name, operand) = (entry.key, entry.value)
        switch name {
        case "$eq": return equal(found, operand, type)
        case "$ne": return !equal(found, operand, type)
        case "$exists":
            guard case .bool(let wanted) = operand else { return false }
            if case .list(let elements) = found { return wanted == !elements.isEmpty }
            return wanted == (found != nil)
        case "$in": return isIn(found, operand, type)
        case "$nin": return !isIn(found, operand, type)
        case "$not", "%not": return !self.test(found, operand, type: type)
        default:
            guard let found, let other = value(operand, type) else { return false }
            return elements(found, type).contains { element in
                guard let order = Self.order(element, other, type) else { return false }
                return switch name {
                case "$gt": order > 0
                case "$gte": order >= 0
                case "$lt": order < 0
                default: order <= 0
                }
            }
        }
    }

    private func equal(_ found: Plain?, _ operand: RuleJSON, _ type: PropertyType?) -> Bool {
        if case .null = operand { return found == nil }
        guard let found, let other = value(operand, type) else { return false }
        if type == nil, case .list(let elements) = found, elements.contains(where: { Self.same($0, other) }) {
            return true
        }
        return Self.same(found, other)
    }

    private func isIn(_ found: Plain?, _ operand: RuleJSON, _ type: PropertyType?) -> Bool {
        let others: [Plain]
        switch operand {
        case .array(let parts):
            if found == nil { return parts.contains { if case .null = $0 { true } else { false } } }
            others = parts.compactMap { value($0, type) }
        case .string(let text):
            guard case .list(let elements) = lookUp(text) else { return false }
            others = elements.compactMap { type == nil ? $0 : Self.converted($0, type) }
        default: return false
        }
        guard let found else { return false }
        return elements(found, type).contains { element in others.contains { Self.same(element, $0) } }
    }

    private func elements(_ value: Plain, _ type: PropertyType?) -> [Plain] {
        if type == nil, case .list(let elements) = value { elements } else { [value] }
    }

    // MARK: Values

    /// The value to compare with, or nil if the user lacks it or the column can't hold it.
    private func value(_ json: RuleJSON, _ type: PropertyType?) -> Plain? {
        guard let plain = value(json) else { return nil }
        return type == nil ? plain : Self.converted(plain, type)
    }

    private func value(_ json: RuleJSON) -> Plain? {
        switch json {
        case .null: nil
        case .bool(let value): .bool(value)
        case .int(let value): .whole(value)
        case .double(let value): .fraction(value)
        case .string("%%true"): .bool(true)
        case .string(let text): text.hasPrefix("%%") ? lookUp(text) : .text(text)
        case .array(let parts): .list(parts.compactMap { value($0) })
        case .object(let entries): entries.first.flatMap { value($0.value) }
        }
    }

    /// Whether the object belongs to the session's partition; true if the session has none.
    var isInPartition: Bool {
        guard let partition = subject.partition else { return true }
        guard let index = item.columnIndex("_partition") else { return false }
        switch (partition, row[index]) {
        case (.null, .null): return true
        case (.string(let wanted), .string(let found)): return Array(wanted.utf8) == Array(found.utf8)
        default: return false
        }
    }

    private func lookUpPartition(_ text: String) -> Plain? {
        guard let partition = subject.partition, let whole = Self.plain(partition) else { return nil }
        if text == "%%partition" { return whole }
        guard case .string(let name) = partition else { return nil }
        let parts = name.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return .text(String(parts[text == "%%partition.key" ? 0 : 1]))
    }

    private func lookUp(_ text: String) -> Plain? {
        if text.hasPrefix("%%partition") { return lookUpPartition(text) }
        let names = text.split(separator: ".").map(String.init).dropFirst()
        switch names.first {
        case "id": return subject.userID.map { .text($0.stringValue) }
        case "type": return .text("normal")
        case "roles": return .list(subject.grants.filter { $0.scope == nil }.map { .text($0.role.name) })
        case "grants":
            let scopes = subject.grants.filter { $0.role.name == names.last }.compactMap(\.scope)
            return .list(scopes.compactMap { Self.plain($0) })
        case "data", "custom_data":
            let all = names.first == "data" ? subject.data : subject.customData
            var current: Plain? = .object(all.compactMapValues { Self.plain($0) })
            for name in names.dropFirst() {
                guard case .object(let values) = current else { return nil }
                current = values[name]
            }
            return current
        default: return nil
        }
    }

    private static func plain(_ value: UserValue) -> Plain? {
        switch value {
        case .null: nil
        case .bool(let value): .bool(value)
        case .int(let value): .whole(value)
        case .double(let value): .fraction(value)
        case .string(let value): .text(value)
        case .array(let values): .list(values.compactMap { plain($0) })
        case .object(let values): .object(values.compactMapValues { plain($0) })
        }
    }

    private static func plain(_ value: Value) -> Plain? {
        switch value {
        case .null, .data: nil
        case .bool(let value): .bool(value)
        case .int(let value): .whole(value)
        case .double(let value): .fraction(value)
        case .string(let value): .text(value)
        case .date(let value): .whole(value)
        case .objectId(let value): .text(value.stringValue)
        case .uuid(let value): .text(value.uuidString.lowercased())
        case .decimal(let value): Double(value.description).map(Plain.fraction)
        }
    }

    /// The value in the form that a column of the type holds.
    private static func converted(_ value: Plain, _ type: PropertyType?) -> Plain? {
        switch (type, value) {
        case (.bool, .bool), (.int, .whole), (.double, .fraction), (.decimal128, .fraction), (.string, .text): value
        case (.int, .fraction(let number)): number == number.rounded() ? .whole(Int64(number)) : nil
        case (.double, .whole(let number)), (.decimal128, .whole(let number)): .fraction(Double(number))
        case (.decimal128, .text(let text)): Double(text).map(Plain.fraction)
        case (.date, .text(let text)):
            RuleWorld.dates.first { $0.text == text }.map { .whole($0.microseconds) }
        case (.objectId, .text(let text)): text.utf8.count == 24 ? .text(text) : nil
        case (.uuid, .text(let text)): text.utf8.count == 36 ? .text(text) : nil
        default: nil
        }
    }

    private static func same(_ left: Plain, _ right: Plain) -> Bool {
        switch (left, right) {
        case (.bool(let a), .bool(let b)): a == b
        case (.whole(let a), .whole(let b)): a == b
        case (.fraction(let a), .fraction(let b)): a == b
        case (.whole(let a), .fraction(let b)), (.fraction(let b), .whole(let a)): "\(a).0" == "\(b)"
        case (.text(let a), .text(let b)): Array(a.utf8) == Array(b.utf8)
        case (.list(let a), .list(let b)): a.count == b.count && zip(a, b).allSatisfy { same($0, $1) }
        case (.object(let a), .object(let b)):
            a.count == b.count && a.allSatisfy { key, value in b[key].map { same(value, $0) } ?? false }
        default: false
        }
    }

    private static func order(_ left: Plain, _ right: Plain, _ type: PropertyType?) -> Int? {
        func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a > b ? 1 : 0 }
        switch (left, right) {
        case (.bool(let a), .bool(let b)): return type == nil ? nil : sign(a ? 1 : 0, b ? 1 : 0)
        case (.whole(let a), .whole(let b)): return sign(a, b)
        case (.whole(let a), .fraction(let b)): return sign(Double(a), b)
        case (.fraction(let a), .whole(let b)): return sign(a, Double(b))
        case (.fraction(let a), .fraction(let b)): return sign(a, b)
        case (.text(let a), .text(let b)):
            return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : b.utf8.lexicographicallyPrecedes(a.utf8) ? 1 : 0
        default: return nil
        }
    }
}
