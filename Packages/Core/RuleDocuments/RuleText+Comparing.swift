internal import TomboloRules

extension RuleText {
    /// Whether two rule documents say different things apart from what an admin server changes of them box by box: their
    /// matrices, and which roles their grants list. Comments and spaces don't count. One with mistakes differs from
    /// whatever isn't the same text.
    public static func differBeyondMatrix(_ text: String, _ other: String, file: String) -> Bool {
        guard text != other else { return false }
        guard let node = try? RuleNode(parsing: text, file: file).withoutMatrix,
            let otherNode = try? RuleNode(parsing: other, file: file).withoutMatrix
        else { return true }
        return node.differenceCount(from: otherNode) > 0
    }
}

extension RuleNode {
    fileprivate var withoutMatrix: RuleNode {
        guard case .map(let entries) = content else { return self }
        return RuleNode(.map(entries.filter { $0.key != "matrix" }), line: line)
            .changing(["grants"]) { $0.changingListedRoles { _ in [] } }
    }
}
