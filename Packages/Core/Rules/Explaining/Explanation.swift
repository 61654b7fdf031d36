public import TomboloModel

/// What a subject may do with the objects of a class, and why: the answer of ``Rules/explain(_:className:row:)``.
public struct Explanation: Sendable {
    /// A role, in the order in which they are asked.
    public struct Role: Sendable {
        public let name: String
        /// File and line.
        public let place: String
        public let applies: Bool
        /// What would have to change for it to apply; empty if it does, or comes after the role that does.
        public let needs: [Wording]
    }

    public struct Permission: Sendable {
        public let operation: Operation
        /// Which objects it is permitted for; false for none.
        public let filter: Predicate
        /// Whether it is permitted for the object in question; nil if none was given.
        public let isPermitted: Bool?
        /// What would have to change for it to be permitted; empty if it is.
        public let needs: [Wording]
    }

    public let className: String
    /// Whether the class has rules at all.
    public let hasRules: Bool
    /// Up to and with the role that applies.
    public let roles: [Role]
    /// Reading, creating, updating and deleting, then further operations that the role permits, by name. Empty if no
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
    /// Several lines, as `migration-tool rules explain` prints them.
    public var description: String {
        guard hasRules else { return "\(className) has no rules, so that nobody may do anything with it." }
        var lines = [className]
        for role in roles {
            lines.append(
                "  role '\(role.name)' (\(role.place)) \(role.applies ? "applies" : "doesn't apply; it would need")")
            lines += role.needs.map { "    \($0)" }
        }
        if role == nil { lines.append("  No role applies, so that the user may do nothing.") }
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
        if !fixedProperties.isEmpty { lines.append("  not to be changed: \(fixedProperties.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }
}
