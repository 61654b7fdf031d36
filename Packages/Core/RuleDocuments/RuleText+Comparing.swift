internal import TomboloModel
internal import TomboloRules

extension RuleText {
    /// Whether two rule documents say different things apart from what an admin server changes of them box by box: the boxes
    /// of roles and users, which roles the matrix has, and which their grants list. Comments and spaces don't count. One with
    /// mistakes differs from whatever isn't the same text.
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
