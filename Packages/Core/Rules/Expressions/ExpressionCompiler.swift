internal import TomboloModel

/// Makes a ``RuleExpression`` of what a document says, checked against the class that it is about.
struct ExpressionCompiler {
    let schema: Schema
    /// Nil for conditions on the user alone.
    let item: ClassSchema?
    let file: String
    /// Class, role and part of the rule, for messages.
    let place: String
    /// What the matrix permits with objects of the class; nil where there is nothing of it.
    let matrix: [Operation: RuleExpression]?
    /// The whole matrix of the document, for the boxes of services by their names.
    let declaration: MatrixDeclaration?
    /// The column of the class with the key of what the matrix's roles are granted in.
    let scopeColumn: Int?
    /// Who has which permission of the matrix's `permissions`.
    let permissions: [String: RuleExpression]
    private(set) var problems: [String] = []

    /// The most comparisons, literals and operators of one expression.
    static let maximumPartCount = 1_000

    init(
        schema: Schema, item: ClassSchema?, file: String, place: String,
        matrix: [Operation: RuleExpression]? = nil, declaration: MatrixDeclaration? = nil, scopeColumn: Int? = nil,
        permissions: [String: RuleExpression] = [:]
    ) {
        self.schema = schema
        self.item = item
        self.file = file
        self.place = place
        self.matrix = matrix
        self.declaration = declaration
        self.scopeColumn = scopeColumn
        self.permissions = permissions
    }

    /// The expression of a whole filter or condition. What isn't understood is a problem and false.
    mutating func compile(_ node: RuleNode) -> RuleExpression {
        let expression = expression(node, depth: 0)
        if expression.partCount > Self.maximumPartCount {
            return refuse(
                node.line,
                "the expression has \(expression.partCount) parts; at most \(Self.maximumPartCount) are possible.")
        }
        if expression == .constant(false), problems.isEmpty, !node.isPlainlyFalse, !node.asksMatrix {
            return refuse(node.line, "the expression is never true; write false if that is what you mean.")
        }
        return expression
    }

    mutating func report(_ line: Int, _ message: String) {
        let problem = "\(file):\(line): \(place): \(message)"
        if !problems.contains(problem) { problems.append(problem) }
    }

    mutating func refuse(_ line: Int, _ message: String) -> RuleExpression {
        report(line, message)
        return .constant(false)
    }

    // MARK: Structure

    private mutating func expression(_ node: RuleNode, depth: Int) -> RuleExpression {
        guard depth < RuleNode.maximumDepth else {
            return refuse(node.line, "the expression nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        switch node.content {
        case .bool(let value): return .constant(value)
        case .string("%%true"): return .constant(true)
        case .string("%%false"): return .constant(false)
        case .string(let text) where text.hasPrefix(Self.matrixPrefix):
            return boxes(String(text.dropFirst(Self.matrixPrefix.count)), node.line)
        case .string(let text) where text.hasPrefix(Self.permissionPrefix):
            return permission(String(text.dropFirst(Self.permissionPrefix.count)), node.line)
        case .string(let text) where text.hasPrefix("%%"):
            guard let reference = reference(text, node.line) else { return .constant(false) }
            return .user(reference, .compare(.equal, .literal(.bool(true))))
        case .map(let entries):
            return conjunction(entries.map { condition($0, depth: depth) }, node.line)
        default:
            return refuse(
                node.line,
                "\(node.kind) isn't an expression: write true, false or a mapping such as "
                    + "{\"owner\": \"%%user.id\"}.")
        }
    }

    static let matrixPrefix = "%%matrix."
    static let withinPrefix = "%%matrix.within."
    static let permissionPrefix = "%%permission."

    /// Who has a permission of the matrix's `permissions`.
    private mutating func permission(_ name: String, _ line: Int) -> RuleExpression {
        if let found = permissions[name] { return found }
        let known = permissions.keys.sorted()
        let hint = name.nearest(in: known).map { "; did you mean '\(Self.permissionPrefix)\($0)'?" } ?? "."
        let list =
            known.isEmpty
            ? " The matrix has no 'permissions'."
            : " There are \(known.map { Self.permissionPrefix + $0 }.joined(separator: ", "))."
        return refuse(
            line, "'\(Self.permissionPrefix)\(name.shortened(toByteCount: 40))' isn't known\(hint)\(list)")
    }

    /// What the matrix asks of an object of the class for an operation.
    private mutating func boxes(_ name: String, _ line: Int) -> RuleExpression {
        let operations = PermissionMatrix.operations.map(\.name)
        if let dot = name.lastIndex(of: "."), operations.contains(String(name[name.index(after: dot)...])),
            let declaration, declaration.services.contains(where: { $0.name == name[..<dot] })
        {
            guard let item else {
                return refuse(line, "this condition is about the user only, so that it can't ask the matrix.")
            }
            return declaration.expression(
                String(name[..<dot]), Operation(String(name[name.index(after: dot)...])),
                linkedBy: scopeColumn.map { RuleExpression.ColumnReference(item.columns[$0], schema) })
        }
        guard operations.contains(name) else {
            let hint = name.nearest(in: operations).map { "; did you mean '\(Self.matrixPrefix)\($0)'?" } ?? "."
            return refuse(
                line,
                "'\(Self.matrixPrefix)\(name.shortened(toByteCount: 40))' isn't known\(hint) There are "
                    + "\(operations.map { Self.matrixPrefix + $0 }.joined(separator: ", ")).")
        }
        guard let matrix else {
            return refuse(
                line,
                item == nil
                    ? "this condition is about the user only, so that it can't ask the matrix about an object."
                    : "the class isn't in a service of the matrix; add it to one.")
        }
        return matrix[Operation(name)] ?? .constant(false)
    }

    private mutating func condition(_ entry: RuleNode.Entry, depth: Int) -> RuleExpression {
        switch entry.key {
        case "%%true": return constant(true, entry, depth: depth)
        case "%%false": return constant(false, entry, depth: depth)
        case "$and", "%and":
            return conjunction(expressions(entry, depth: depth), entry.line)
        case "$or", "%or": return .disjunction(expressions(entry, depth: depth))
        case "$nor", "%nor": return .negation(.disjunction(expressions(entry, depth: depth)))
        case "$not", "%not": return .negation(expression(entry.value, depth: depth + 1))
        case let key where key.hasPrefix("%%"):
            guard let reference = reference(key, entry.line) else { return .constant(false) }
            return userCondition(reference, entry.value, depth: depth + 1)
        case let key where key.hasPrefix("%") || key.hasPrefix("$"): return refuse(entry.line, unknownOperator(key))
        default:
            guard let column = column(entry.key, entry.line) else { return .constant(false) }
            return fieldCondition(column, entry.value, depth: depth + 1)
        }
    }

    private mutating func constant(_ wanted: Bool, _ entry: RuleNode.Entry, depth: Int) -> RuleExpression {
        let inner = expression(entry.value, depth: depth + 1)
        return wanted ? inner : .negation(inner)
    }

    private mutating func expressions(_ entry: RuleNode.Entry, depth: Int) -> [RuleExpression] {
        guard case .list(let nodes) = entry.value.content else {
            return [refuse(entry.value.line, "\(entry.key) takes a list of expressions, not \(entry.value.kind).")]
        }
        guard !nodes.isEmpty else {
            return [refuse(entry.value.line, "\(entry.key) takes at least one expression, and the list is empty.")]
        }
        return nodes.map { expression($0, depth: depth + 1) }
    }

    private mutating func conjunction(_ parts: [RuleExpression], _ line: Int) -> RuleExpression {
        let result = RuleExpression.conjunction(parts)
        if let field = result.contradictoryField {
            return refuse(line, "no value of '\(field)' satisfies all of these conditions.")
        }
        return result
    }

    // MARK: Conditions on a field

    private mutating func fieldCondition(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode, depth: Int
    ) -> RuleExpression {
        guard depth < RuleNode.maximumDepth else {
            return refuse(node.line, "the expression nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        guard case .map(let entries) = node.content, !node.isWrappedValue else {
            return operand(column, node).map { .field(column, .equal, $0) } ?? .constant(false)
        }
        guard let first = entries.first else {
            return refuse(node.line, "'\(column.name)' is compared with {}; write a value or an operator such as $eq.")
        }
        if !first.key.isOperator {
            return refuse(
                first.line,
                "'\(column.name)' is compared with a mapping; for a property of an embedded object write "
                    + "'\(column.name).\(first.key.shortened(toByteCount: 40))'.")
        }
        return conjunction(entries.map { fieldTest(column, $0, depth: depth) }, node.line)
    }

    private mutating func fieldTest(
        _ column: RuleExpression.ColumnReference, _ entry: RuleNode.Entry, depth: Int
    ) -> RuleExpression {
        let value = entry.value
        switch RuleOperator(entry.key) {
        case .compare(let comparison):
            guard let operand = operand(column, value) else { return .constant(false) }
            if operand == .literal(.null), comparison != .equal, comparison != .notEqual {
                return refuse(value.line, "'\(column.name)' can be compared with null by $eq and $ne only.")
            }
            return .field(column, comparison, operand)
        case .isIn(let isNegated):
            let test = membership(column, value, entry.key)
            return isNegated ? .negation(test) : test
        case .exists:
            guard case .bool(let flag) = value.content else {
                return refuse(value.line, "\(entry.key) takes true or false, not \(value.kind).")
            }
            return .field(column, flag ? .notEqual : .equal, .literal(.null))
        case .not: return .negation(fieldCondition(column, value, depth: depth + 1))
        case .and, .or, .nor:
            guard case .list(let nodes) = value.content, !nodes.isEmpty else {
                return refuse(value.line, "\(entry.key) takes a list of conditions, not \(value.kind).")
            }
            let parts = nodes.map { fieldCondition(column, $0, depth: depth + 1) }
            switch RuleOperator(entry.key) {
            case .and: return conjunction(parts, value.line)
            case .or: return .disjunction(parts)
            default: return .negation(.disjunction(parts))
            }
        case nil: return refuse(entry.line, unknownOperator(entry.key))
        }
    }

    private mutating func membership(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode, _ key: String
    ) -> RuleExpression {
        switch node.content {
        case .list(let nodes):
            guard !nodes.isEmpty else { return refuse(node.line, "\(key) has an empty list.") }
            return .fieldIn(column, nodes.compactMap { operand(column, $0) })
        case .string(let text) where text.hasPrefix(Self.withinPrefix):
            return added(column, String(text.dropFirst(Self.withinPrefix.count)), node.line)
        case .string(let text) where text.hasPrefix("%%"):
            guard let reference = reference(text, node.line) else { return .constant(false) }
            guard reference.canBeList else {
                return refuse(node.line, "\(key) takes a list, and \(text) isn't one.")
            }
            return .fieldInList(column, reference)
        default: return refuse(node.line, "\(key) takes a list of values, not \(node.kind).")
        }
    }

    /// Whether the field has the name of a role that was added to the matrix, and may do nothing that a role of it may not.
    private mutating func added(
        _ column: RuleExpression.ColumnReference, _ name: String, _ line: Int
    ) -> RuleExpression {
        guard column.type == .string else {
            return refuse(
                line, "'\(column.name)' is \(column.type.article) and can't hold a role's name, which is a text.")
        }
        guard let names = declaration?.addedRoles(within: name) else {
            let known = (declaration?.everywhere ?? []) + (declaration?.roles ?? [])
            let hint = name.nearest(in: known.map(\.name)).map { "; did you mean '\(Self.withinPrefix)\($0)'?" } ?? "."
            return refuse(
                line, "the matrix has no role '\(name.shortened(toByteCount: String.nearestLengthLimit))'\(hint)")
        }
        return names.isEmpty ? .constant(false) : .fieldIn(column, names.map { .literal(.string($0)) })
    }

    private mutating func operand(
        _ column: RuleExpression.ColumnReference, _ node: RuleNode
    ) -> RuleExpression.FieldOperand? {
        if case .map(let entries) = node.content, let entry = entries.first, entries.count == 1,
            let result = RuleOperator.conversions[entry.key]
        {
            guard column.type == result else {
                report(
                    entry.line,
                    "\(entry.key) gives \(result.article), and '\(column.name)' is "
                        + "\(column.type.article).")
                return nil
            }
            return operand(column, entry.value)
        }
        if case .string(let text) = node.content, text.hasPrefix("%%"), text != "%%true", text != "%%false" {
            guard let reference = reference(text, node.line) else { return nil }
            guard !reference.isList else {
                report(node.line, "\(text) is a list: write {\"\(column.name)\": {\"$in\": \"\(text)\"}}.")
                return nil
            }
            guard reference != .id || column.type == .objectId || column.type == .string else {
                report(
                    node.line,
                    "'\(column.name)' is \(column.type.article) and can't hold a user's id, which is an "
                        + "ObjectId.")
                return nil
            }
            guard !reference.isOfPartition || PartitionKey.canHold(column.type) else {
                report(
                    node.line,
                    "'\(column.name)' is \(column.type.article) and can't hold a partition, which is a text, a whole "
                        + "number, an ObjectId or a UUID.")
                return nil
            }
            return .reference(reference)
        }
        guard let literal = literal(node) else { return nil }
        if literal == .null { return .literal(.null) }
        guard let value = literal.converted(to: column.type), !value.isNotANumber else {
            let hint = if case .array = literal { "; for one of several values write {\"$in\": […]}" } else { "" }
            report(
                node.line,
                "'\(column.name)' is \(column.type.article) and can't be compared with \(literal)\(hint).")
            return nil
        }
        return .literal(value)
    }

    // MARK: Conditions on the user

    private mutating func userCondition(
        _ reference: UserReference, _ node: RuleNode, depth: Int
    ) -> RuleExpression {
        guard depth < RuleNode.maximumDepth else {
            return refuse(node.line, "the expression nests deeper than \(RuleNode.maximumDepth) levels.")
        }
        guard case .map(let entries) = node.content, !node.isWrappedValue else {
            return userOperand(node).map { .user(reference, .compare(.equal, $0)) } ?? .constant(false)
        }
        guard let first = entries.first else {
            return refuse(node.line, "\(reference) is compared with {}; write a value or an operator such as $eq.")
        }
        guard first.key.isOperator else {
            return refuse(
                first.line, "\(reference) is compared with a mapping; name one of its values by a longer path.")
        }
        return .conjunction(entries.map { userTest(reference, $0, depth: depth) })
    }

    private mutating func userTest(
        _ reference: UserReference, _ entry: RuleNode.Entry, depth: Int
    ) -> RuleExpression {
        let value = entry.value
        switch RuleOperator(entry.key) {
        case .compare(let comparison):
            return userOperand(value).map { .user(reference, .compare(comparison, $0)) } ?? .constant(false)
        case .isIn(let isNegated):
            let test: RuleExpression
            switch value.content {
            case .list(let nodes): test = .user(reference, .isIn(.list(nodes.compactMap { userOperand($0) })))
            case .string(let text) where text.hasPrefix("%%"):
                guard let other = self.reference(text, value.line) else { return .constant(false) }
                test = .user(reference, .isIn(.reference(other)))
            default: return refuse(value.line, "\(entry.key) takes a list of values, not \(value.kind).")
            }
            return isNegated ? .negation(test) : test
        case .exists:
            guard case .bool(let flag) = value.content else {
                return refuse(value.line, "\(entry.key) takes true or false, not \(value.kind).")
            }
            return flag ? .user(reference, .exists) : .negation(.user(reference, .exists))
        case .not: return .negation(userCondition(reference, value, depth: depth + 1))
        case .and, .or, .nor:
            guard case .list(let nodes) = value.content, !nodes.isEmpty else {
                return refuse(value.line, "\(entry.key) takes a list of conditions, not \(value.kind).")
            }
            let parts = nodes.map { userCondition(reference, $0, depth: depth + 1) }
            switch RuleOperator(entry.key) {
            case .and: return .conjunction(parts)
            case .or: return .disjunction(parts)
            default: return .negation(.disjunction(parts))
            }
        case nil: return refuse(entry.line, unknownOperator(entry.key))
        }
    }

    private mutating func userOperand(_ node: RuleNode) -> RuleExpression.UserOperand? {
        switch node.content {
        // Ids of users and objects are texts here, so that there is nothing to convert.
        case .map(let entries) where entries.count == 1 && RuleOperator.conversions[entries[0].key] != nil:
            return userOperand(entries[0].value)
        case .string(let text) where text.hasPrefix("%%") && text != "%%true" && text != "%%false":
            return reference(text, node.line).map { .reference($0) }
        case .list(let nodes): return .list(nodes.compactMap { userOperand($0) })
        default: return literal(node).map { .literal($0) }
        }
    }

    // MARK: Names and values

    private mutating func literal(_ node: RuleNode) -> UserValue? {
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
            report(node.line, "a value was expected, not a mapping.")
            return nil
        }
    }

    /// A value of MongoDB's extended JSON. <https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/>
    private mutating func unwrapped(_ key: String, _ node: RuleNode) -> UserValue? {
        switch (key, node.content) {
        case ("$numberInt", .string(let text)), ("$numberLong", .string(let text)):
            if let number = Int64(text) { return .int(number) }
        case ("$numberDouble", .string(let text)): if let number = Double(text) { return .double(number) }
        case (_, .string(let text)): return .string(text)
        default: break
        }
        report(node.line, "\(key) takes a text, not \(node.kind).")
        return nil
    }

    private mutating func reference(_ text: String, _ line: Int) -> UserReference? {
        if let reference = UserReference(text) { return reference }
        let shown = text.shortened(toByteCount: 60)
        let root = text.split(separator: ".").first.map(String.init) ?? text
        switch root {
        case "%%partition":
            report(
                line,
                "'\(shown)' isn't known about partitions. There are "
                    + "\(UserReference.partitionForms.joined(separator: ", ")).")
        case "%%values", "%%environment", "%%request":
            report(line, "\(shown) isn't available: write the value itself.")
        case "%%root", "%%prevRoot", "%%this", "%%prev":
            report(line, "\(shown) isn't available: name the property as a key, as in {\"owner\": \"%%user.id\"}.")
        case "%%user":
            let nearest = text.nearest(in: UserReference.forms).map { "; did you mean \($0)?" } ?? "."
            report(
                line,
                "'\(shown)' isn't known about users\(nearest) There are \(UserReference.forms.joined(separator: ", "))."
            )
        default:
            let nearest =
                root.nearest(in: ["%%user", "%%partition", "%%true", "%%false"]).map { "; did you mean \($0)?" } ?? "."
            report(line, "'\(shown)' isn't an expansion\(nearest)")
        }
        return nil
    }

    private mutating func column(_ name: String, _ line: Int) -> RuleExpression.ColumnReference? {
        let shown = name.shortened(toByteCount: String.nearestLengthLimit)
        guard let item else {
            report(
                line,
                "this condition is about the user only, so that it can't look at '\(shown)': compare the property "
                    + "in read or write, or use an expansion such as %%user.custom_data.NAME.")
            return nil
        }
        if let index = item.columnIndex(name) {
            let column = item.columns[index]
            if case .array = column.type {
                report(line, "'\(shown)' is a list, and rules can't look into lists.")
                return nil
            }
            return .init(name: name, type: schema.storedType(of: column))
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

    private func unknownOperator(_ key: String) -> String {
        if key == "%function" || key == "$function" {
            return "%function isn't possible: rules can't call code. Keep what the function looks up in the user's "
                + "custom data, and compare with %%user.custom_data. A function that takes a partition apart is written "
                + "with %%partition.key and %%partition.value."
        }
        let shown = key.shortened(toByteCount: 40)
        let nearest = key.nearest(in: RuleOperator.names).map { "; did you mean \($0)?" } ?? "."
        return
            "'\(shown)' isn't an operator of rules\(nearest) Operators: \(RuleOperator.names.joined(separator: " "))."
    }
}

extension String {
    fileprivate var isOperator: Bool { hasPrefix("$") || hasPrefix("%") }
}

extension RuleNode {
    /// A value in a mapping of one key: extended JSON, or a conversion.
    fileprivate var isWrappedValue: Bool {
        guard case .map(let entries) = content, entries.count == 1 else { return false }
        return RuleOperator.wrappers.contains(entries[0].key) || RuleOperator.conversions[entries[0].key] != nil
    }

    /// Whether it asks a box of the matrix, which nobody may have ticked.
    fileprivate var asksMatrix: Bool {
        switch content {
        case .string(let text):
            text.hasPrefix(ExpressionCompiler.matrixPrefix) || text.hasPrefix(ExpressionCompiler.permissionPrefix)
        case .list(let nodes): nodes.contains(where: \.asksMatrix)
        case .map(let entries): entries.contains { $0.value.asksMatrix }
        case .null, .bool, .int, .double: false
        }
    }

    /// Whether it says false in so many words.
    var isPlainlyFalse: Bool {
        switch content {
        case .bool(false), .string("%%false"): return true
        case .map(let entries):
            guard entries.count == 1, case .bool(let value) = entries[0].value.content else { return false }
            return entries[0].key == (value ? "%%false" : "%%true")
        default: return false
        }
    }
}

extension Value {
    fileprivate var isNotANumber: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}

extension PropertyType {
    /// For messages: `an int`.
    fileprivate var article: String { ("aeiou".contains(name.prefix(1)) ? "an " : "a ") + name }
}
