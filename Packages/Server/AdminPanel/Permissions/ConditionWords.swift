import TomboloLocalization
import TomboloModel
import TomboloRules

/// Describes in words for which objects of a class a rule's condition holds. It refers to the user and their roles
/// instead of ids.
struct ConditionWords {
    private let item: ClassSchema
    private let subject: Subject
    /// The classes whose objects are scopes of roles.
    private let scopes: Set<String>

    init(_ item: ClassSchema, for subject: Subject, under rules: Rules) {
        self.item = item
        self.subject = subject
        scopes = Set(
            rules.grantColumns.compactMap { grants in
                grants.scopeColumn.flatMap { rules.schema[grants.classIndex].columns[$0].linkTarget }
            })
    }

    /// The alternatives under which the condition holds, such as `Is public: yes, and State: accepted or confirmed`;
    /// empty if it holds for all objects or for none.
    func ways(_ condition: Predicate) -> [String] {
        parts(condition).compactMap { if case .constant = $0 { nil } else { text($0) } }
    }

    /// The first alternative that holds for an object; nil if none does, or if the condition holds for all objects.
    func reason(_ condition: Predicate, _ row: Row) -> String? {
        parts(condition).first { $0.matches(row, of: item) }.flatMap { ways($0).first }
    }

    private func parts(_ condition: Predicate) -> [Predicate] {
        if case .or(let parts) = condition { parts.flatMap(self.parts) } else { [condition] }
    }

    private func text(_ condition: Predicate) -> String {
        switch condition {
        case .constant(let value): value ? localized("all") : localized("none")
        case .compare(let path, .equal, let value): text(path, .equal, names([value], path))
        case .compare(let path, .notEqual, let value): text(path, .notEqual, names([value], path))
        case .compare(let path, let comparison, let value): text(path, comparison, name(value))
        case .isIn(let path, let values): text(path, .equal, names(values, path))
        case .text(let path, let test, let text, _): self.text(path, test, text)
        case .and(let parts): Self.joined(parts.map(nested)) { localized("\($0), and \($1)") }
        case .or(let parts): Self.joined(parts.map(nested)) { localized("\($0), or \($1)") }
        case .not(let inner): localized("not (\(text(inner)))")
        }
    }

    private static func joined(_ texts: [String], by join: (String, String) -> String) -> String {
        texts.dropFirst().reduce(texts.first ?? "", join)
    }

    private func nested(_ condition: Predicate) -> String {
        switch condition {
        case .and, .or: "(\(text(condition)))"
        default: text(condition)
        }
    }

    private func text(_ path: PropertyPath, _ comparison: Predicate.Comparison, _ value: String) -> String {
        if isKey(path) { return Self.keyText(comparison, value) }
        let title = ClassTitle.words(path.description)
        return switch comparison {
        case .equal: localized("\(title): \(value)")
        case .notEqual: localized("\(title): not \(value)")
        case .less: localized("\(title): less than \(value)")
        case .lessOrEqual: localized("\(title): at most \(value)")
        case .greater: localized("\(title): more than \(value)")
        case .greaterOrEqual: localized("\(title): at least \(value)")
        }
    }

    private static func keyText(_ comparison: Predicate.Comparison, _ value: String) -> String {
        switch comparison {
        case .equal: localized("It's \(value)")
        case .notEqual: localized("It's not \(value)")
        case .less: localized("It's less than \(value)")
        case .lessOrEqual: localized("It's at most \(value)")
        case .greater: localized("It's more than \(value)")
        case .greaterOrEqual: localized("It's at least \(value)")
        }
    }

    private func text(_ path: PropertyPath, _ test: Predicate.TextTest, _ value: String) -> String {
        let title = ClassTitle.words(path.description)
        return switch test {
        case .contains: localized("\(title): contains '\(value)'")
        case .beginsWith: localized("\(title): begins with '\(value)'")
        case .endsWith: localized("\(title): ends with '\(value)'")
        }
    }

    private func isKey(_ path: PropertyPath) -> Bool { path.description == item.primaryKey?.name }

    // MARK: Values

    /// The possible values of a property, joined by "or". The scopes of the user's roles are summarized in one phrase.
    private func names(_ values: [Value], _ path: PropertyPath) -> String {
        let roles = Set(subject.grants.filter { $0.scope.map(values.contains) ?? false }.map(\.role.name)).sorted()
            .map(localizedName)
        let scopes = Set(subject.grants.compactMap(\.scope))
        var names = values.filter { !leadsToScope(path) || !scopes.contains($0) }.map(name)
        if names.count < values.count {
            names.append(localized("one where they have the role \(Self.list(roles))"))
        }
        return names.isEmpty ? localized("none") : Self.list(names)
    }

    private func leadsToScope(_ path: PropertyPath) -> Bool {
        if isKey(path) { return scopes.contains(item.name) }
        let column = item.columnIndex(path.description).map { item.columns[$0] }
        return column?.linkTarget.map(scopes.contains) ?? false
    }

    private func name(_ value: Value) -> String {
        if let user = subject.userID, value == .objectId(user) || value == .string(user.stringValue) {
            return localized("this user")
        }
        switch value {
        case .null: return localized("empty")
        case .bool(let flag): return flag ? localized("yes") : localized("no")
        case .string(let text): return text
        default: return value.description
        }
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.joined() }
        let others = names.dropLast().joined(separator: ", ")
        return localized("\(others) or \(last)")
    }
}
