internal import TomboloRules

extension RuleNode {
    /// The node with the value at a path of keys changed; unchanged if the path leads nowhere.
    func changing(_ path: [String], _ change: (RuleNode) -> RuleNode) -> RuleNode {
        guard let first = path.first else { return change(self) }
        return changingEntries { entries in
            entries.map { entry in
                guard entry.key == first else { return entry }
                return .init(
                    key: entry.key, line: entry.line, value: entry.value.changing(Array(path.dropFirst()), change))
            }
        }
    }

    func changingEntries(_ change: ([Entry]) -> [Entry]) -> RuleNode {
        guard case .map(let entries) = content else { return self }
        return RuleNode(.map(change(entries)), line: line)
    }

    /// For a matrix: adds a row to a section. If there is no such section, it makes one after `roles`.
    func adding(_ row: Entry, to section: String) -> RuleNode {
        if self[section] != nil { return changing([section]) { $0.changingEntries { $0 + [row] } } }
        return changingEntries { entries in
            entries.flatMap { entry in
                guard entry.key == "roles" else { return [entry] }
                return [entry, Entry(key: section, line: 0, value: RuleNode(.map([row]), line: 0))]
            }
        }
    }

    /// For a matrix: removes a row from a section, and the section with its last row.
    func removing(_ name: String, from section: String) -> RuleNode {
        let edited = changing([section]) { $0.changingEntries { $0.filter { $0.key != name } } }
        guard case .map(let rows)? = edited[section]?.content, rows.isEmpty else { return edited }
        return changingEntries { $0.filter { $0.key != section } }
    }

    /// For `grants`: changes the names in the first list of `roles`.
    func changingListedRoles(_ change: ([String]) -> [String]) -> RuleNode {
        if case .list(let nodes) = content {
            guard let first = nodes.first else { return self }
            return RuleNode(.list([first.changingListedRoles(change)] + nodes.dropFirst()), line: line)
        }
        return changing(["roles"]) { roles in
            guard case .list(let nodes) = roles.content else { return roles }
            let names = nodes.compactMap { if case .string(let name) = $0.content { name } else { nil } }
            guard names.count == nodes.count else { return roles }
            return RuleNode(.list(change(names).map { RuleNode(.string($0), line: roles.line) }), line: roles.line)
        }
    }
}
