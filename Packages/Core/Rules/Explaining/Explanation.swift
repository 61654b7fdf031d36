public import TomboloModel

/// What a subject may do with the objects of a class, and why: the answer of ``Rules/explain(_:className:row:)``.
public struct Explanation: Sendable {
    /// A role of the class.
    public struct Role: Sendable {
        public let name: String
        /// File and line.
        public let place: String
        public let applies: Bool
        /// What would have to change for the role to apply. Empty if it applies, or comes after the role that does.
        public let needs: [Wording]
    }

    public struct Permission: Sendable {
        public let operation: Operation
        /// The objects that the operation is permitted for; false for none.
        public let filter: Predicate
        /// Whether the operation is permitted for the given object; nil if none was given.
        public let isPermitted: Bool?
        /// What would have to change for the operation to be permitted; empty if it is.
        public let needs: [Wording]
    }

    public let className: String
    /// Whether the class has rules at all.
    public let hasRules: Bool
    /// The roles in the order of evaluation, up to and including the one that applies.
    public let roles: [Role]
    /// Reading, creating, updating and deleting, then any other operations that the role permits, by name. Empty if no
    /// role applies.
    public let permissions: [Permission]
    /// The properties that the subject may not read.
    public let hiddenProperties: [String]
    /// The properties that the subject may not change.
    public let fixedProperties: [String]

    /// The role that decides, or nil if none applies.
    public var role: Role? { roles.first(where: \.applies) }
}

extension Explanation: CustomStringConvertible {
    /// A text of several lines, as `migration-tool rules explain` prints it.
    public var description: String {
        guard hasRules else { return "\(className) has no rules, so nobody may do anything with it." }
        var lines = [className]
        for role in roles {
            lines.append(
                "  role '\(role.name)' (\(role.place)) \(role.applies ? "applies" : "doesn't apply; it would need")")
            lines += role.needs.map { "    \($0)" }
        }
        if role == nil { lines.append("  No role applies, so the user may do nothing.") }
        for permission in permissions {
            let filter =
                switch permission.filter {
                case .constant(let value): value ? "all objects" : "nothing"
                case let predicate: "objects with \(predicate)"
                }
            let verdict = permission.isPermitted.map { $0 ? "; this one too" : "; not this one" } ?? ""
            lines.append("  \(permission.operation): \(filter)\(permission.filter == .constant(false) ? "" : verdict)")
            if !permission.needs.isEmpty { lines.append("    it would need") }
            lines += permission.needs.map { "      \($0)" }
        }
        if !hiddenProperties.isEmpty { lines.append("  hidden: \(hiddenProperties.joined(separator: ", "))") }
        if !fixedProperties.isEmpty { lines.append("  read-only: \(fixedProperties.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }
}
