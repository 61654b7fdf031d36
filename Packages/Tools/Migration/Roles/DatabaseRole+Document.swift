extension DatabaseRole {
    /// The rights as a Markdown table, for documents.
    public var rightsTable: String {
        let rows = rights.map { right in
            "| \(right.target.text) | \(right.privileges.map(\.text).joined(separator: ", ")) | \(right.purpose) |"
        }
        return (["| on | may | for |", "|---|---|---|"] + rows).joined(separator: "\n")
    }
}

extension DatabaseRight.Target {
    fileprivate var text: String {
        switch self {
        case .schema(let name): "the schema `\(name)`"
        case .table(let name): "`tombolo.\(name)`"
        case .sequence(let name): "the sequence `tombolo.\(name)`"
        case .function(let name): "the function `tombolo.\(name)`"
        case .classes: "the tables of all classes"
        case .classTables(let name): "the table of `\(name)`, and of its lists"
        }
    }
}

extension DatabaseRight.Privilege {
    fileprivate var text: String {
        columns.map { "`\(kind.rawValue)` (\($0.map { "`\($0)`" }.joined(separator: ", ")))" } ?? "`\(kind.rawValue)`"
    }
}
