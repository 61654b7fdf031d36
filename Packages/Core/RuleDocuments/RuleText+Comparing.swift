internal import TomboloModel
internal import TomboloRules

extension RuleText {
    /// Whether two rule documents differ in anything that an admin server doesn't edit. It edits the boxes of roles and
    /// users, the matrix's roles, and the roles that grants list. Comments and whitespace don't count. A document with
    /// mistakes differs from any text that isn't identical.
    public static func differBeyondBoxes(_ text: String, _ other: String, file: String) -> Bool {
        guard !text.hasBytes(of: other) else { return false }
        guard let node = try? RuleNode(parsing: text, file: file).withoutBoxes,
            let otherNode = try? RuleNode(parsing: other, file: file).withoutBoxes
        else { return true }
        return node.differenceCount(from: otherNode) > 0
    }
}

extension RuleNode {
    fileprivate var withoutBoxes: RuleNode {
        changing(["grants"]) { $0.changingListedRoles { _ in [] } }
            .changing(["matrix"]) { $0.changingEntries { $0.filter { $0.key != "roles" && $0.key != "everywhere" } } }
            .changing(["matrix", "permissions"]) { permissions in
                permissions.changingValues { groups in groups.changingValues { RuleNode(.null, line: $0.line) } }
            }
    }

    private func changingValues(_ change: (RuleNode) -> RuleNode) -> RuleNode {
        changingEntries { entries in
            entries.map { Entry(key: $0.key, line: $0.line, value: change($0.value)) }
        }
    }
}
