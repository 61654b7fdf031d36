import TomboloModel
import TomboloRules

/// Says in words which objects of a class a condition of the rules holds for, as far as it's about somebody: with them and
/// their roles in place of ids.
struct ConditionWords {
    private let item: ClassSchema
    private let subject: Subject
    /// The classes within whose objects grants give roles.
    private let scopes: Set<String>

    init(_ item: ClassSchema, for subject: Subject, under rules: Rules) {
        self.item = item
        self.subject = subject
        scopes = Set(
            rules.grantColumns.compactMap { grants in
                grants.scopeColumn.flatMap { rules.schema[grants.classIndex].columns[$0].linkTarget }
            })
    }

    /// Ways in which the condition may hold, such as `Is public: yes, and State: accepted or confirmed`; empty if it holds
    /// for all objects or for none.
    func ways(_ condition: Predicate) -> [String] {
        parts(condition).compactMap { if case .constant = $0 { nil } else { text($0) } }
    }

    /// The first way in which it holds for an object; nil if it doesn't, or does for all.
    func reason(_ condition: Predicate, _ row: Row) -> String? {
        parts(condition).first { $0.matches(row, of: item) }.flatMap { ways($0).first }
    }

    private func parts(_ condition: Predicate) -> [Predicate] {
        if case .or(let parts) = condition { parts.flatMap(self.parts) } else { [condition] }
    }

    private func text(_ condition: Predicate) -> String {
        switch condition {
        case .constant(let value): value ? "all" : "none"
        case .compare(let path, .equal, let value): field(path, names([value], path))
        case .compare(let path, .notEqual, let value): field(path, "not \(names([value], path))")
        case .compare(let path, let comparison, let value): field(path, "\(Self.words(comparison)) \(name(value))")
        case .isIn(let path, let values): field(path, names(values, path))
        case .text(let path, let test, let text, _):
            field(path, "\(ClassTitle.words(test.rawValue).lowercased()) '\(text)'")
        case .and(let parts): parts.map(nested).joined(separator: ", and ")
        case .or(let parts): parts.map(nested).joined(separator: ", or ")
        case .not(let inner): "not (\(text(inner)))"
        }
    }

    private func nested(_ condition: Predicate) -> String {
        switch condition {
        case .and, .or: "(\(text(condition)))"
        default: text(condition)
        }
    }

    private func field(_ path: PropertyPath, _ text: String) -> String {
        isKey(path) ? "It's \(text)" : "\(ClassTitle.words(path.description)): \(text)"
    }

    private func isKey(_ path: PropertyPath) -> Bool { path.description == item.primaryKey?.name }

    // MARK: Values

    /// Several, of which a property has one.
    private func names(_ values: [Value], _ path: PropertyPath) -> String {
        let roles = Set(subject.grants.filter { $0.scope.map(values.contains) ?? false }.map(\.role.name)).sorted()
        let scopes = Set(subject.grants.compactMap(\.scope))
        var names = values.filter { !leadsToScope(path) || !scopes.contains($0) }.map(name)
        if names.count < values.count {
            names.append("one where they have the role \(Self.list(roles))")
        }
        return names.isEmpty ? "none" : Self.list(names)
    }

    private func leadsToScope(_ path: PropertyPath) -> Bool {
        if isKey(path) { return scopes.contains(item.name) }
        let column = item.columnIndex(path.description).map { item.columns[$0] }
        return column?.linkTarget.map(scopes.contains) ?? false
    }

    private func name(_ value: Value) -> String {
        if let user = subject.userID, value == .objectId(user) || value == .string(user.stringValue) {
            return "this user"
        }
        switch value {
        case .null: return "empty"
        case .bool(let flag): return flag ? "yes" : "no"
        case .string(let text): return text
        default: return value.description
        }
    }

    private static func list(_ names: [String]) -> String {
        names.count < 2 ? names.joined() : "\(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])"
    }

    private static func words(_ comparison: Predicate.Comparison) -> String {
        switch comparison {
        case .equal: ""
        case .notEqual: "not"
        case .less: "less than"
        case .lessOrEqual: "at most"
        case .greater: "more than"
        case .greaterOrEqual: "at least"
        }
    }
}
