import TomboloModel
import TomboloRules

/// Permits a role some operations on a class's objects that satisfy a filter. Anything that no rule permits is denied.
struct FormerRule {
    struct Role: Hashable {
        let name: String

        init(_ name: String) { self.name = name }

        /// Everybody, logged in or not.
        static let anonymous = Role("anonymous")
        /// Everybody who is logged in.
        static let attendee = Role("attendee")
    }

    indirect enum Filter {
        case everything
        case matching(Predicate)
        /// The property holds the key of the subject's user.
        case own(String)
        /// The property holds the key of an object within which the subject has the rule's role.
        case inScope(String)
        case all([Filter])

        var isScoped: Bool {
            switch self {
            case .everything, .matching, .own: false
            case .inScope: true
            case .all(let parts): parts.contains(where: \.isScoped)
            }
        }

        func matches(_ row: Row, of item: ClassSchema, _ subject: Subject, _ role: Role) -> Bool {
            func value(_ property: String) -> Value { item.columnIndex(property).map { row[$0] } ?? .null }
            switch self {
            case .everything: return true
            case .matching(let predicate): return predicate.matches(row, of: item)
            case .own(let property): return subject.userID.map { value(property) == .objectId($0) } ?? false
            case .inScope(let property):
                return subject.grants.contains {
                    $0.role.name == role.name && $0.scope != nil && $0.scope == value(property)
                }
            case .all(let parts): return parts.allSatisfy { $0.matches(row, of: item, subject, role) }
            }
        }
    }

    let role: Role
    let className: String
    let operations: Set<TomboloRules.Operation>
    let filter: Filter
    /// Properties that an update may not change under this rule. Another rule may still permit it.
    let fixed: Set<String>

    init(
        _ role: Role, _ className: String, _ operations: Set<TomboloRules.Operation>, where filter: Filter,
        fixing fixed: Set<String> = []
    ) {
        self.role = role
        self.className = className
        self.operations = operations
        self.filter = filter
        self.fixed = fixed
    }

    /// Whether the rule applies to the subject.
    private func concerns(_ subject: Subject) -> Bool {
        if filter.isScoped || role == .anonymous { return true }
        if role == .attendee { return !subject.isAnonymous }
        return subject.grants.contains { $0.role.name == role.name && $0.scope == nil }
    }

    /// The table's decision about one object.
    static func isAllowed(
        _ table: [FormerRule], _ subject: Subject, _ operation: TomboloRules.Operation, _ item: ClassSchema, old: Row?,
        new: Row?
    ) -> Bool {
        let rules = table.filter {
            $0.className == item.name && $0.operations.contains(operation) && $0.concerns(subject)
        }
        let rows =
            switch operation {
            case .create: [new]
            case .update: [old, new]
            default: [old]
            }
        func permits(_ rules: [FormerRule]) -> Bool {
            rows.allSatisfy { row in
                row.map { row in rules.contains { $0.filter.matches(row, of: item, subject, $0.role) } } ?? false
            }
        }
        guard permits(rules) else { return false }
        guard operation == .update, let old, let new else { return true }
        let fixed = table.filter { $0.className == item.name }.reduce(into: Set<String>()) { $0.formUnion($1.fixed) }
        return fixed.allSatisfy { name in
            guard let column = item.columnIndex(name), old[column] != new[column] else { return true }
            return permits(rules.filter { !$0.fixed.contains(name) })
        }
    }
}
