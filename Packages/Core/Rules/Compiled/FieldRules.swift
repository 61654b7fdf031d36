internal import TomboloModel

/// Which fields a role may read and write, according to its `fields`, its `additional_fields` and the second form's
/// `read` and `write`.
struct FieldRules {
    private struct Access {
        var read: Bool
        var write: Bool
        /// The line that says so, or nil if the document says nothing about it.
        var line: Int?
    }

    private let schema: Schema
    private let classIndex: Int
    private let declaration: RoleDeclaration
    private let file: String
    private let place: String
    private var lists: [String: Access] = [:]
    private(set) var hiddenColumns: Set<Int> = []
    private(set) var hiddenLists: Set<Int> = []
    private(set) var fixedColumns: Set<Int> = []
    private(set) var readsNothing = false
    private(set) var writesNothing = false
    private(set) var problems: [String] = []

    init(schema: Schema, classIndex: Int, declaration: RoleDeclaration, file: String, place: String) {
        self.schema = schema
        self.classIndex = classIndex
        self.declaration = declaration
        self.file = file
        self.place = place
    }

    private mutating func problem(_ line: Int, _ message: String) {
        problems.append("\(file):\(line): \(place), fields: \(message)")
    }

    mutating func resolve() {
        let item = schema[classIndex]
        // If the document says nothing, the first form permits everything and the second form nothing.
        let absent = !declaration.isSecondForm
        var rest = Access(read: absent, write: absent)
        if let node = declaration.additionalFields { rest = access(node, "additional_fields") }
        var named: [String: Access] = [:]
        if let fields = declaration.fields { read(fields, prefix: "", into: &named) }
        var columns = item.columns.map { column in
            named[column.name] ?? Self.enclosing(column.name, named) ?? rest
        }
        for list in item.lists { lists[list.name] = named[list.name] ?? Self.enclosing(list.name, named) ?? rest }
        if let reads = declaration.readsEveryField { override(reads, \.read, &columns) }
        if let writes = declaration.writesEveryField { override(writes, \.write, &columns) }
        for index in columns.indices where index != item.primaryKeyIndex {
            if !columns[index].write { fixedColumns.insert(index) }
            // Permission to write includes permission to read.
            if !columns[index].read && !columns[index].write { hiddenColumns.insert(index) }
        }
        for (position, list) in item.lists.enumerated() {
            guard let access = lists[list.name], !access.read, !access.write,
                let elements = schema.elementClassIndex(of: classIndex, list: position)
            else { continue }
            hiddenLists.formUnion([elements] + schema.elementClassIndexes(of: elements))
        }
        let others = columns.indices.filter { $0 != item.primaryKeyIndex }
        let hasNoOthers = others.isEmpty && item.lists.isEmpty
        let unlisted = { (literal: Bool?, rest: Bool) in !(literal ?? rest) }
        writesNothing =
            hasNoOthers
            ? unlisted(declaration.writesEveryField, rest.write)
            : others.allSatisfy(fixedColumns.contains) && lists.values.allSatisfy { !$0.write }
        readsNothing =
            writesNothing
            && (hasNoOthers
                ? unlisted(declaration.readsEveryField, rest.read)
                : others.allSatisfy(hiddenColumns.contains) && lists.values.allSatisfy { !$0.read })
    }

    /// Applies a role's literal `read` or `write`, which overrides all of its field rules.
    private mutating func override(
        _ value: Bool, _ key: WritableKeyPath<Access, Bool>, _ columns: inout [Access]
    ) {
        for index in columns.indices { columns[index][keyPath: key] = value }
        for name in lists.keys { lists[name]?[keyPath: key] = value }
    }

    /// Reports rules that forbid changing a list. Changes of lists arrive without the list's name, so a rule can't
    /// forbid changing just one.
    mutating func refuseFixedLists() {
        for name in lists.keys.sorted() {
            guard let access = lists[name], !access.write else { continue }
            problem(
                access.line ?? declaration.line,
                "'\(name)' is a list, and lists are written together with their object; give it {write: true}, or "
                    + "permit no writing at all.")
        }
    }

    private static func enclosing(_ name: String, _ named: [String: Access]) -> Access? {
        var name = Substring(name)
        while let dot = name.lastIndex(of: ".") {
            name = name[..<dot]
            if let access = named[String(name)] { return access }
        }
        return nil
    }

    private mutating func read(_ node: RuleNode, prefix: String, into named: inout [String: Access]) {
        let item = schema[classIndex]
        guard case .map(let entries) = node.content else {
            return problem(node.line, "expected a mapping of properties, not \(node.kind).")
        }
        for entry in entries {
            let name = prefix + entry.key
            let shown = name.shortened(toByteCount: String.nearestLengthLimit)
            guard let property = property(name) else {
                let known = item.columns.map(\.name) + item.lists.map(\.name)
                let hint = name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
                problem(entry.line, "\(item.name) has no property '\(shown)'\(hint)")
                continue
            }
            if property == item.primaryKey?.name {
                problem(
                    entry.line,
                    "'\(shown)' is the primary key, which is always part of the object; remove its rule.")
                continue
            }
            let access = access(entry.value, shown)
            if declaration.readsEveryField == true && !access.read
                || declaration.writesEveryField == true && !access.write && entry.value["write"] != nil
            {
                problem(
                    entry.line,
                    "the rule for '\(shown)' has no effect, because the role's own read: true and write: true "
                        + "take precedence; remove those.")
            }
            // A rule under the property's current name overrides one under a former name.
            if name == property || named[property] == nil { named[property] = access }
            if let inner = entry.value["fields"] { read(inner, prefix: name + ".", into: &named) }
        }
    }

    /// The current name of a column or a list that has or once had this name.
    private func property(_ name: String) -> String? {
        let item = schema[classIndex]
        if let column = item.columnIndex(name) { return item.columns[column].name }
        return item.lists.first { $0.name == name || $0.previousNames.contains(name) }?.name
    }

    private mutating func access(_ node: RuleNode, _ name: String) -> Access {
        var access = Access(read: false, write: false, line: node.line)
        guard case .map(let entries) = node.content else {
            problem(node.line, "'\(name)': expected {read: …, write: …}, not \(node.kind).")
            return access
        }
        for entry in entries {
            switch (entry.key, entry.value.content) {
            case ("read", .bool(let flag)): access.read = flag
            case ("write", .bool(let flag)): access.write = flag
            case ("read", _), ("write", _):
                problem(
                    entry.value.line,
                    "'\(name)': \(entry.key) must be true or false, not \(entry.value.kind): field rules can't depend "
                        + "on the object.")
            case ("fields", _): continue
            default:
                let hint = entry.key.nearest(in: ["read", "write", "fields"]).map { "; did you mean '\($0)'?" } ?? "."
                problem(entry.line, "'\(name)': '\(entry.key.shortened(toByteCount: 60))' isn't known here\(hint)")
            }
        }
        if node["read"] == nil, !access.write, !entries.isEmpty {
            problem(node.line, "'\(name)' doesn't say whether it may be read; add read: true or read: false.")
        }
        access.read = access.read || access.write
        return access
    }
}
