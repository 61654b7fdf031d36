internal import TomboloModel

/// Resolves the names and values in an expression.
extension ExpressionCompiler {
    mutating func literal(_ node: RuleNode) -> UserValue? {
        switch node.content {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string("%%true"): return .bool(true)
        case .string("%%false"): return .bool(false)
        case .string(let value): return .string(value)
        case .list(let nodes): return .array(nodes.compactMap { literal($0) })
        case .map(let entries):
            if entries.count == 1, RuleOperator.wrappers.contains(entries[0].key) {
                return unwrapped(entries[0].key, entries[0].value)
            }
            report(node.line, "expected a value, not a mapping.")
            return nil
        }
    }

    /// A value of MongoDB's extended JSON. <https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/>
    mutating func unwrapped(_ key: String, _ node: RuleNode) -> UserValue? {
        switch (key, node.content) {
        case ("$numberInt", .string(let text)), ("$numberLong", .string(let text)):
            if let number = Int64(text) { return .int(number) }
        case ("$numberDouble", .string(let text)): if let number = Double(text) { return .double(number) }
        case (_, .string(let text)): return .string(text)
        default: break
        }
        report(node.line, "\(key) takes a string, not \(node.kind).")
        return nil
    }

    mutating func reference(_ text: String, _ line: Int) -> UserReference? {
        if let reference = UserReference(text) { return reference }
        let shown = text.shortened(toByteCount: 60)
        let root = text.split(separator: ".").first.map(String.init) ?? text
        switch root {
        case "%%partition":
            report(
                line,
                "'\(shown)' isn't a partition expansion. The expansions are "
                    + "\(UserReference.partitionForms.joined(separator: ", ")).")
        case "%%values", "%%environment", "%%request":
            report(line, "\(shown) isn't available: write the value itself.")
        case "%%root", "%%prevRoot", "%%this", "%%prev":
            report(line, "\(shown) isn't available: name the property as a key, as in {\"owner\": \"%%user.id\"}.")
        case "%%user":
            let nearest = text.nearest(in: UserReference.forms).map { "; did you mean \($0)?" } ?? "."
            report(
                line,
                "'\(shown)' isn't a user expansion\(nearest) The expansions are "
                    + "\(UserReference.forms.joined(separator: ", "))."
            )
        default:
            let nearest =
                root.nearest(in: ["%%user", "%%partition", "%%true", "%%false"]).map { "; did you mean \($0)?" } ?? "."
            report(line, "'\(shown)' isn't an expansion\(nearest)")
        }
        return nil
    }

    mutating func column(_ name: String, _ line: Int) -> RuleExpression.ColumnReference? {
        let shown = name.shortened(toByteCount: String.nearestLengthLimit)
        guard let item else {
            report(
                line,
                "this condition is about the user only, so it can't look at '\(shown)': compare the property in read "
                    + "or write, or use an expansion such as %%user.custom_data.NAME.")
            return nil
        }
        if let index = item.columnIndex(name) {
            let column = item.columns[index]
            if case .array = column.type {
                report(line, "'\(shown)' is a list, and rules can't look into lists.")
                return nil
            }
            // Floats are stored as doubles, but compared with the nearest float.
            return .init(name: name, type: column.type == .float ? .float : schema.storedType(of: column))
        }
        if item.lists.contains(where: { $0.name == name }) {
            report(
                line,
                "'\(shown)' is a list, and rules can't look into lists: a rule is decided by the object's own "
                    + "values. Compare a property or a link.")
            return nil
        }
        if let column = item.columns.first(where: { $0.sqlName == name }) {
            report(line, "\(item.name) has no property '\(shown)'; that is the column of '\(column.name)'.")
            return nil
        }
        let nearest = name.nearest(in: item.columns.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
        report(line, "\(item.name) has no property '\(shown)'\(nearest)")
        return nil
    }

    func unknownOperator(_ key: String) -> String {
        if key == "%function" || key == "$function" {
            return
                "%function isn't supported: rules can't call code. Keep what the function looks up in the user's "
                + "custom data, and compare with %%user.custom_data. To take a partition apart, use "
                + "%%partition.key and %%partition.value."
        }
        let shown = key.shortened(toByteCount: 40)
        let nearest = key.nearest(in: RuleOperator.names).map { "; did you mean \($0)?" } ?? "."
        return
            "'\(shown)' isn't an operator of rules\(nearest) Operators: \(RuleOperator.names.joined(separator: " "))."
    }
}
