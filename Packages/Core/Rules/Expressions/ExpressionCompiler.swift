internal import TomboloModel

/// Compiles a part of a document into a ``RuleExpression``, and checks it against the class that it is about.
struct ExpressionCompiler {
    let schema: Schema
    /// Nil for conditions on the user alone.
    let item: ClassSchema?
    let file: String
    /// Class, role and part of the rule, for messages.
    let place: String
    /// What the matrix permits with objects of the class, or nil if it says nothing about the class.
    let matrix: [Operation: RuleExpression]?
    /// The whole matrix of the document, to look up services' boxes by name.
    let declaration: MatrixDeclaration?
    /// The class's column with the key of the object that the matrix's roles are granted in.
    let scopeColumn: Int?
    /// Which users have which permission of the matrix's `permissions`.
    let permissions: [String: RuleExpression]
    /// Whether a condition on the user alone may ask for boxes. It then asks for those of the user's roles that count
    /// everywhere.
    let asksBoxesOfUser: Bool
    private(set) var problems: [String] = []

    /// The most comparisons, literals and operators in one expression.
    static let maximumPartCount = 1_000

    init(
        schema: Schema, item: ClassSchema?, file: String, place: String,
        matrix: [Operation: RuleExpression]? = nil, declaration: MatrixDeclaration? = nil, scopeColumn: Int? = nil,
        permissions: [String: RuleExpression] = [:], asksBoxesOfUser: Bool = false
    ) {
        self.schema = schema
        self.item = item
        self.file = file
        self.place = place
        self.matrix = matrix
        self.declaration = declaration
        self.scopeColumn = scopeColumn
        self.permissions = permissions
        self.asksBoxesOfUser = asksBoxesOfUser
    }

    /// Compiles a whole filter or condition. Whatever it doesn't understand is reported as a problem and becomes false.
    mutating func compile(_ node: RuleNode) -> RuleExpression {
        let expression = expression(node, depth: 0)
        if expression.partCount > Self.maximumPartCount {
            return refuse(
                node.line,
                "the expression has \(expression.partCount) parts; at most \(Self.maximumPartCount) are allowed.")
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

    mutating func expression(_ node: RuleNode, depth: Int) -> RuleExpression {
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
    static let everywherePrefix = "%%matrix.everywhere."
    static let withinPrefix = "%%matrix.within."
    static let permissionPrefix = "%%permission."

    /// Holds for users who have a permission of the matrix's `permissions`.
    mutating func permission(_ name: String, _ line: Int) -> RuleExpression {
        if let found = permissions[name] { return found }
        let known = permissions.keys.sorted()
        let hint = name.nearest(in: known).map { "; did you mean '\(Self.permissionPrefix)\($0)'?" } ?? "."
        let list =
            known.isEmpty
            ? " The matrix has no 'permissions'."
            : " Permissions: \(known.map { Self.permissionPrefix + $0 }.joined(separator: ", "))."
        return refuse(
            line, "'\(Self.permissionPrefix)\(name.shortened(toByteCount: 40))' isn't known\(hint)\(list)")
    }

    /// What the matrix demands of an object of the class for an operation.
    mutating func boxes(_ name: String, _ line: Int) -> RuleExpression {
        let operations = PermissionMatrix.operations.map(\.name)
        if let declaration, let (service, operation, isEverywhere) = Self.box(name, of: declaration) {
            guard item != nil || asksBoxesOfUser else {
                return refuse(line, "this condition is about the user only, so it can't ask the matrix.")
            }
            let column = isEverywhere ? nil : scopeColumn.flatMap { item?.columns[$0] }
            return declaration.expression(
                service, operation, linkedBy: column.map { RuleExpression.ColumnReference($0, schema) })
        }
        guard operations.contains(name) else {
            let hint = name.nearest(in: operations).map { "; did you mean '\(Self.matrixPrefix)\($0)'?" } ?? "."
            return refuse(
                line,
                "'\(Self.matrixPrefix)\(name.shortened(toByteCount: 40))' isn't known\(hint) Operations: "
                    + "\(operations.map { Self.matrixPrefix + $0 }.joined(separator: ", ")).")
        }
        guard let matrix else {
            return refuse(
                line,
                item == nil
                    ? "this condition is about the user only, so it can't ask the matrix about an object."
                    : "the class isn't in a service of the matrix; add it to one.")
        }
        return matrix[Operation(name)] ?? .constant(false)
    }

    /// The box that a name refers to: `trash.read`, or `everywhere.trash.read` for only the roles that count
    /// everywhere.
    private static func box(
        _ name: String, of declaration: MatrixDeclaration
    ) -> (service: String, operation: Operation, isEverywhere: Bool)? {
        let everywhere = everywherePrefix.dropFirst(matrixPrefix.count)
        for (text, isEverywhere) in [(name[...], false), (name.dropFirst(everywhere.count), true)]
        where !isEverywhere || name.hasPrefix(everywhere) {
            guard let dot = text.lastIndex(of: "."),
                let operation = PermissionMatrix.operations.first(where: { $0.name == text[text.index(after: dot)...] }
                ),
                declaration.services.contains(where: { $0.name == text[..<dot] })
            else { continue }
            return (String(text[..<dot]), operation, isEverywhere)
        }
        return nil
    }

    mutating func condition(_ entry: RuleNode.Entry, depth: Int) -> RuleExpression {
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

    mutating func constant(_ wanted: Bool, _ entry: RuleNode.Entry, depth: Int) -> RuleExpression {
        let inner = expression(entry.value, depth: depth + 1)
        return wanted ? inner : .negation(inner)
    }

    mutating func expressions(_ entry: RuleNode.Entry, depth: Int) -> [RuleExpression] {
        guard case .list(let nodes) = entry.value.content else {
            return [refuse(entry.value.line, "\(entry.key) takes a list of expressions, not \(entry.value.kind).")]
        }
        guard !nodes.isEmpty else {
            return [refuse(entry.value.line, "\(entry.key) takes at least one expression, but the list is empty.")]
        }
        return nodes.map { expression($0, depth: depth + 1) }
    }

    mutating func conjunction(_ parts: [RuleExpression], _ line: Int) -> RuleExpression {
        let result = RuleExpression.conjunction(parts)
        if let field = result.contradictoryField {
            return refuse(line, "no value of '\(field)' satisfies all of these conditions.")
        }
        return result
    }

    // MARK: Conditions on a field
    // MARK: Conditions on the user
    // MARK: Names and values
}
