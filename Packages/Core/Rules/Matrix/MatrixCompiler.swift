internal import TomboloModel

/// Checks the matrix of one book against the classes, and works out what each box demands of an object.
struct MatrixCompiler {
    let schema: Schema
    let book: RuleBook
    private(set) var problems: [String] = []
    private(set) var notes: [String] = []
    /// What the ticked boxes permit, by class position and operation.
    private(set) var boxes: [Int: [Operation: RuleExpression]] = [:]
    /// By class position: the column with the key of the object that roles are granted in.
    private(set) var scopeColumns: [Int: Int] = [:]
    private(set) var access: MatrixAccess?
    /// By name: which users have a permission of the matrix, as a condition on the user.
    private(set) var permissions: [String: RuleExpression] = [:]

    init(_ schema: Schema, _ book: RuleBook) {
        self.schema = schema
        self.book = book
        guard let declaration = book.matrixDeclaration else { return }
        checkRoles(declaration)
        let grantTypes = grantScopeTypes()
        for service in declaration.services {
            for item in service.classes {
                guard let (index, column) = column(item, declaration, grantTypes) else { continue }
                scopeColumns[index] = column
                boxes[index] = expressions(declaration, service.name, item, schema[index], column)
            }
        }
        let groups = userGroups(declaration)
        for permission in declaration.permissions {
            permissions[permission.name] = .disjunction(
                groups.filter { permission.groups.contains($0.name) }.map(\.condition))
        }
        access = MatrixAccess(
            matrix: declaration.matrix(book.grants), scopeType: grantTypes.first ?? .objectId,
            read: condition(declaration.read, "read", asking: declaration), write: writing(declaration),
            furtherOperations: operations(declaration), userGroups: groups, permissions: permissions)
        noteIdleBoxes(declaration)
    }

    /// Who may change the matrix. This condition can't ask for a box.
    private mutating func writing(_ declaration: MatrixDeclaration) -> RuleExpression {
        if let node = declaration.write, let question = node.matrixQuestions.first {
            problem(
                node.line,
                "'write' can't ask for the box '\(question.shortened(toByteCount: 60))': a role with that box could "
                    + "tick all the others, and so do everything. Name a role, as in {\"%%user.roles\": ROLE}.")
            return .constant(false)
        }
        return condition(declaration.write, "write")
    }

    private mutating func operations(_ declaration: MatrixDeclaration) -> [Operation: RuleExpression] {
        var result: [Operation: RuleExpression] = [:]
        for entry in declaration.operations {
            result[Operation(entry.key)] = condition(entry.value, "operation \(entry.key)", asking: declaration)
        }
        return result
    }

    /// Notes the ticked boxes of services without classes that no rule asks for.
    private mutating func noteIdleBoxes(_ declaration: MatrixDeclaration) {
        for (roles, isEverywhere) in [(declaration.everywhere, true), (declaration.roles, false)] {
            for role in roles {
                for (service, asked) in declaration.asked.sorted(by: { $0.key < $1.key }) {
                    let idle = PermissionMatrix.operations.filter { operation in
                        role.permitted[service]?.contains(operation) == true
                            && !(isEverywhere ? asked.everywhere : asked.within).contains(operation)
                    }
                    guard !idle.isEmpty else { continue }
                    let reach = isEverywhere ? "everywhere" : "within an object"
                    notes.append(
                        "\(book.file):\(role.line): matrix, role '\(role.name)', \(service): no rule asks whether a "
                            + "role that applies \(reach) may \(idle.map(\.name).joined(separator: ", ")), so the box "
                            + "permits nothing.")
                }
            }
        }
    }

    /// Every user who is logged in belongs to the first group whose condition holds.
    private mutating func userGroups(
        _ declaration: MatrixDeclaration
    ) -> [(name: String, condition: RuleExpression)] {
        var earlier: [RuleExpression] = [.user(.id, .exists)]
        return declaration.users.map { group in
            let own = condition(group.condition, "users, \(group.name)")
            if earlier.contains(.constant(false)) {
                problem(
                    group.line,
                    "users: nobody is left for '\(group.name)', because an earlier group is for everybody; move it up "
                        + "or remove it.")
            }
            let whole = RuleExpression.conjunction(earlier + [own])
            earlier.append(.negation(own))
            return (group.name, whole)
        }
    }

    private mutating func problem(_ line: Int, _ message: String) {
        problems.append("\(book.file):\(line): matrix: \(message)")
    }

    /// - Parameter matrix: the matrix whose boxes the condition may ask for; nil for none.
    private mutating func condition(
        _ node: RuleNode?, _ part: String, asking matrix: MatrixDeclaration? = nil
    ) -> RuleExpression {
        guard let node else { return .constant(false) }
        var compiler = ExpressionCompiler(
            schema: schema, item: nil, file: book.file, place: "matrix, \(part)", declaration: matrix,
            asksBoxesOfUser: matrix != nil)
        let expression = compiler.compile(node)
        problems += compiler.problems
        return expression
    }

    // MARK: Names

    private mutating func checkRoles(_ declaration: MatrixDeclaration) {
        let sources = book.grants.filter { $0.scope != nil }
        guard !sources.isEmpty else {
            return problem(
                declaration.line,
                "nothing grants its roles within an object; add grants: [{class: …, user: …, role: …, scope: …}].")
        }
        // A source that doesn't list its roles may give any role.
        let known = sources.compactMap(\.roles)
        guard known.count == sources.count else { return }
        let names = known.flatMap { $0 }
        for role in declaration.everywhere + declaration.roles where !names.contains(role.name) {
            let hint = role.name.nearest(in: names).map { "; did you mean '\($0)'?" } ?? "."
            let shown = role.name.shortened(toByteCount: String.nearestLengthLimit)
            problem(role.line, "no grant gives the role '\(shown)'\(hint) Roles: \(names.joined(separator: ", ")).")
        }
    }

    /// The types of the keys of the objects that roles are granted in.
    private func grantScopeTypes() -> [PropertyType] {
        book.grants.compactMap { grant in
            guard let scope = grant.scope, let item = schema[grant.className.key],
                let column = item.columnIndex(scope.key)
            else { return nil }
            return schema.storedType(of: item.columns[column])
        }
    }

    /// The position of a service's class, and the column that links its objects.
    private mutating func column(
        _ item: MatrixDeclaration.ServiceClass, _ declaration: MatrixDeclaration, _ grantTypes: [PropertyType]
    ) -> (index: Int, column: Int)? {
        guard let index = schema.index(of: item.name), schema[index].owner == nil else {
            let known = schema.classes.filter { $0.owner == nil }.map(\.name)
            let hint = item.name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
            problem(
                item.line, "there is no class '\(item.name.shortened(toByteCount: String.nearestLengthLimit))'\(hint)")
            return nil
        }
        if let refusal = book.refusal(naming: item.name, schema[index]) {
            problem(item.line, refusal)
            return nil
        }
        guard let scope = item.scope ?? declaration.scope else { return nil }
        let found = schema[index]
        guard let column = found.columnIndex(scope.key) else {
            let hint = scope.key.nearest(in: found.columns.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
            problem(
                item.line,
                "\(item.name) has no property '\(scope.key.shortened(toByteCount: String.nearestLengthLimit))'\(hint) "
                    + "The service can name another one: {\(item.name): PROPERTY}.")
            return nil
        }
        let type = schema.storedType(of: found.columns[column])
        guard grantTypes.isEmpty || grantTypes.contains(type) else {
            problem(
                item.line,
                "\(item.name).\(scope.key) is of type \(type.name), but roles are granted in objects with keys of type "
                    + "\(grantTypes[0].name); name the property that links to them.")
            return nil
        }
        return (index, column)
    }

    // MARK: Boxes

    private mutating func expressions(
        _ declaration: MatrixDeclaration, _ service: String, _ item: MatrixDeclaration.ServiceClass,
        _ found: ClassSchema, _ column: Int
    ) -> [Operation: RuleExpression] {
        var result: [Operation: RuleExpression] = [:]
        for operation in PermissionMatrix.operations {
            let roles = declaration.roles.filter { $0.permitted[service]?.contains(operation) == true }
            if operation == .create, column == found.primaryKeyIndex, let role = roles.first {
                problem(
                    role.line,
                    "role '\(role.name)', \(service): roles are granted within a \(item.name), and nobody has a role "
                        + "in one before it exists; remove the letter c.")
            }
            result[operation] = declaration.expression(
                service, operation, linkedBy: RuleExpression.ColumnReference(found.columns[column], schema))
        }
        return result
    }
}

extension MatrixDeclaration {
    /// What the boxes of a service demand of an object for an operation.
    /// - Parameter column: the column with the key of the object that roles are granted in; nil for a class without
    ///   one.
    func expression(
        _ service: String, _ operation: Operation, linkedBy column: RuleExpression.ColumnReference?
    ) -> RuleExpression {
        func ticked(_ roles: [Role]) -> [String] {
            roles.filter { $0.permitted[service]?.contains(operation) == true }.map(\.name)
        }
        let everywhere = ticked(everywhere).map { name in
            RuleExpression.user(.roles, .compare(.equal, .literal(.string(name))))
        }
        let within = column.map { column in
            ticked(roles).map { RuleExpression.fieldInList(column, .grants($0)) }
        }
        return .disjunction(everywhere + (within ?? []))
    }
}

extension RuleExpression.ColumnReference {
    init(_ column: Column, _ schema: Schema) {
        self.init(name: column.name, type: schema.storedType(of: column))
    }
}
