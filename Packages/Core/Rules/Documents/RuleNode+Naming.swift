extension RuleNode {
    /// The line of a string or key that is a role's name, or that refers to the role.
    package func line(naming role: String) -> Int? {
        let names = [role, "%%user.grants.\(role)", ExpressionCompiler.withinPrefix + role]
        switch content {
        case .string(let text): return names.contains(text) ? line : nil
        case .list(let nodes): return nodes.lazy.compactMap { $0.line(naming: role) }.first
        case .map(let entries):
            return entries.lazy.compactMap { entry in
                names.contains(entry.key) ? entry.line : entry.value.line(naming: role)
            }.first
        case .null, .bool, .int, .double: return nil
        }
    }

    /// Whether a rule document names a role anywhere except in the rows of its matrix and the lists of its grants.
    func namesElsewhere(_ role: String) -> Bool {
        guard case .map(let entries) = content else { return false }
        return entries.contains { entry in
            switch entry.key {
            case "grants": entry.value.without(keys: ["roles"]).line(naming: role) != nil
            case "matrix": entry.value.without(keys: ["roles", "everywhere"]).line(naming: role) != nil
            default: entry.value.line(naming: role) != nil
            }
        }
    }

    /// A mapping, or each mapping in a list, without these keys.
    private func without(keys: Set<String>) -> RuleNode {
        switch content {
        case .map(let entries): RuleNode(.map(entries.filter { !keys.contains($0.key) }), line: line)
        case .list(let nodes): RuleNode(.list(nodes.map { $0.without(keys: keys) }), line: line)
        case .null, .bool, .int, .double, .string: self
        }
    }
}
