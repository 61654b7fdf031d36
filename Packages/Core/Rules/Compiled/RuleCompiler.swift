internal import TomboloModel

/// Checks the rule books of all apps against the schema.
struct RuleCompiler {
    let schema: Schema
    private(set) var roles: [Int: [ClassRole]] = [:]
    private(set) var grantColumns: [GrantColumns] = []
    /// By the document's name.
    private(set) var matrices: [String: MatrixAccess] = [:]
    /// What the matrices permit, by class position.
    private var boxes: [Int: [Operation: RuleExpression]] = [:]
    /// The columns with the keys of the objects that the matrices' roles are granted in, by class position.
    private var scopeColumns: [Int: Int] = [:]
    /// By the document's name.
    private var declarations: [String: MatrixDeclaration] = [:]
    /// Which users have which permission, by the names of the document and the permission.
    private var permissions: [String: [String: RuleExpression]] = [:]
    /// By class position, without element classes.
    private(set) var partitionColumns: [Int: Int] = [:]
    private(set) var notes: [String] = []
    private(set) var problems: [String] = []

    init(_ schema: Schema, _ books: [RuleBook]) {
        self.schema = schema
        var files: [Int: String] = [:]
        for book in books { addMatrix(of: book) }
        for book in books {
            notes += book.notes
            problems += book.problems
            for item in book.classes { add(item, of: book, &files) }
            for grant in book.grants { add(grant, of: book) }
        }
        let others = schema.classes.indices.filter { schema[$0].owner == nil && files[$0] == nil }
        for book in books where book.hasDefaultRoles { addDefaultRoles(of: book, others, &files) }
        for index in boxes.keys { addMatrixRole(index) }
        addPartitionColumns(books)
    }

    // MARK: Matrix

    private mutating func addMatrix(of book: RuleBook) {
        let compiler = MatrixCompiler(schema, book)
        problems += compiler.problems
        notes += compiler.notes
        boxes.merge(compiler.boxes) { first, _ in first }
        scopeColumns.merge(compiler.scopeColumns) { first, _ in first }
        matrices[book.file] = compiler.access
        declarations[book.file] = book.matrixDeclaration
        permissions[book.file] = compiler.permissions
    }

    /// Adds a role for users to whom none of the class's own roles applies: only the matrix decides for them.
    private mutating func addMatrixRole(_ index: Int) {
        let own = roles[index] ?? []
        guard let matrix = boxes[index], !own.contains(where: { $0.applyWhen == .constant(true) }) else { return }
        let nothing = RuleExpression.constant(false)
        roles[index] =
            own + [
                ClassRole(
                    name: "matrix", place: "matrix", isForAnonymous: false, applyWhen: .constant(true),
                    read: matrix[.read] ?? nothing, write: nothing, insert: nothing, delete: nothing, matrix: matrix,
                    scopeColumn: scopeColumns[index])
            ]
    }

    // MARK: Classes

    private mutating func add(_ declaration: ClassDeclaration, of book: RuleBook, _ files: inout [Int: String]) {
        let place = "\(book.file):\(declaration.line): "
        guard let index = schema.index(of: declaration.name) else {
            let known = schema.classes.filter { $0.owner == nil }.map(\.name)
            let hint = declaration.name.nearest(in: known + RuleBook.topKeys).map { "; did you mean '\($0)'?" } ?? "."
            let shown = declaration.name.shortened(toByteCount: String.nearestLengthLimit)
            problems.append("\(place)there is no class '\(shown)'\(hint)")
            return
        }
        if let owner = schema[index].owner {
            problems.append(
                "\(place)'\(declaration.name)' is a list of \(owner.className); its elements follow the rules of "
                    + "\(owner.className).")
            return
        }
        if let refusal = book.refusal(naming: declaration.name, schema[index]) {
            problems.append("\(place)\(refusal)")
            return
        }
        if let other = files[index] {
            problems.append(
                "\(place)\(declaration.name) already has rules in \(other); only one document can have them.")
            return
        }
        files[index] = book.file
        var found: [String] = []
        roles[index] = compile(declaration.roles, index, declaration.name, book.file, &found)
        problems += found
    }

    /// - Parameter indexes: the classes without roles of their own.
    private mutating func addDefaultRoles(of book: RuleBook, _ indexes: [Int], _ files: inout [Int: String]) {
        var refused: [[String]] = []
        var fits = false
        for index in indexes {
            if let scope = book.scope, !scope.contains(schema[index].name) { continue }
            if let other = files[index] {
                problems.append(
                    "\(book.file): its default roles and those of \(other) both cover \(schema[index].name).")
                continue
            }
            files[index] = book.file
            var found: [String] = []
            let compiled = compile(
                book.defaultRoles, index, "default roles for \(schema[index].name)", book.file, &found)
            if found.isEmpty {
                fits = true
                roles[index] = compiled
            } else {
                roles[index] = boxes[index] == nil ? [.denial(place: book.file)] : []
                refused.append(found)
            }
        }
        // A class that a device adds later must not make the rules of all other classes unusable.
        if fits {
            notes += refused.flatMap { $0 }.map { "\($0) Nobody may read or write the class." }
        } else {
            problems += refused.first ?? []
        }
    }

    // MARK: Roles

    private func compile(
        _ declarations: [RoleDeclaration], _ index: Int, _ className: String, _ file: String,
        _ problems: inout [String]
    ) -> [ClassRole] {
        var result: [ClassRole] = []
        for declaration in declarations {
            let role = compile(declaration, index, className, file, &problems)
            let place = "\(file):\(declaration.line): \(className), role '\(role.name)': "
            if role.applyWhen == .constant(false) {
                if declaration.applyWhen?.isPlainlyFalse == true {
                    problems.append("\(place)it never applies; remove it.")
                }
            } else if let earlier = result.first(where: { $0.covers(role) }) {
                let why =
                    earlier.applyWhen == .constant(true)
                    ? "applies to everybody" : "applies under the same condition"
                problems.append(
                    "\(place)it never applies, because role '\(earlier.name)' (\(earlier.place)) comes first and "
                        + "\(why); "
                        + "move it up or remove it.")
            }
            result.append(role)
        }
        return result
    }

    private func compile(
        _ declaration: RoleDeclaration, _ index: Int, _ className: String, _ file: String, _ problems: inout [String]
    ) -> ClassRole {
        let place = "\(className), role '\(declaration.name)'"
        func expression(_ node: RuleNode?, _ part: String, absent: Bool, isAboutUser: Bool = false) -> RuleExpression {
            guard let node else { return .constant(absent) }
            var compiler = ExpressionCompiler(
                schema: schema, item: isAboutUser ? nil : schema[index], file: file, place: "\(place), \(part)",
                matrix: isAboutUser ? nil : boxes[index], declaration: declarations[file],
                scopeColumn: scopeColumns[index], permissions: permissions[file] ?? [:])
            let expression = compiler.compile(node)
            problems += compiler.problems
            return expression
        }
        let prefix = declaration.isSecondForm ? "document_filters." : ""
        let applyWhen = expression(
            declaration.applyWhen, declaration.isSecondForm ? "apply_when" : "applyWhen", absent: false,
            isAboutUser: true)
        var read = expression(declaration.read, "\(prefix)read", absent: false)
        var write = expression(declaration.write, "\(prefix)write", absent: false)
        let insert = expression(declaration.insert, "insert", absent: true)
        let delete = expression(declaration.delete, "delete", absent: true)
        let create = expression(declaration.create, "create", absent: false)
        let requirements = declaration.requires.map { entry in
            // Spelled like any other permission, so that a misspelt name is reported and doesn't leave a hole.
            let name = RuleNode(.string(ExpressionCompiler.permissionPrefix + entry.key), line: entry.line)
            return ClassRole.Requirement(
                name: entry.key, permission: expression(name, "requires", absent: false),
                condition: expression(entry.value, "requires \(entry.key)", absent: false))
        }
        var operations: [Operation: RuleExpression] = [:]
        for entry in declaration.operations {
            operations[Operation(entry.key)] = expression(entry.value, "operation \(entry.key)", absent: false)
        }
        var fields = FieldRules(schema: schema, classIndex: index, declaration: declaration, file: file, place: place)
        fields.resolve()
        var matrix = declaration.usesMatrix ? boxes[index] ?? [:] : [:]
        if fields.writesNothing {
            write = .constant(false)
            matrix = matrix.filter { $0.key == .read }
        }
        read = .disjunction([read, write, matrix[.read] ?? .constant(false)])
        if fields.readsNothing {
            read = .constant(false)
            matrix = [:]
        }
        let creates = fields.writesNothing || fields.readsNothing ? .constant(false) : create
        if write != .constant(false) || creates != .constant(false) || !matrix.isEmpty { fields.refuseFixedLists() }
        problems += fields.problems
        return ClassRole(
            name: declaration.name, place: "\(file):\(declaration.line)", isForAnonymous: declaration.isForAnonymous,
            applyWhen: applyWhen, read: read, write: write, insert: insert, delete: delete, create: creates,
            requirements: requirements, operations: operations, matrix: matrix,
            scopeColumn: matrix.isEmpty ? nil : scopeColumns[index],
            hiddenColumns: fields.hiddenColumns, hiddenLists: fields.hiddenLists, fixedColumns: fields.fixedColumns)
    }

    // MARK: Partitions

    private mutating func addPartitionColumns(_ books: [RuleBook]) {
        var declared: [Int: PartitionDeclaration] = [:]
        for book in books {
            guard let declaration = book.partition else { continue }
            let (name, place) = (declaration.key.key, "\(book.file):\(declaration.key.line): partition: ")
            var types: [PropertyType] = []
            var known: [String] = []
            for index in schema.classes.indices where schema[index].owner == nil {
                guard book.scope?.contains(schema[index].name) ?? true else { continue }
                if declared[index] != nil, book.scope == nil {
                    problems.append("\(place)another document already names the property.")
                    return
                }
                declared[index] = declaration
                known += schema[index].columns.map(\.name)
                if let column = schema[index].columnIndex(name) {
                    types.append(schema.storedType(of: schema[index].columns[column]))
                }
            }
            if types.isEmpty {
                let hint = name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
                let shown = name.shortened(toByteCount: String.nearestLengthLimit)
                problems.append("\(place)no class has a property '\(shown)'\(hint)")
            } else if let type = types.first(where: { !PartitionKey.canHold($0) }) {
                problems.append(
                    "\(place)'\(name)' is of type \(type.name), which can't be a partition key; the possible types are "
                        + "string, int, objectId and uuid.")
            }
        }
        for index in schema.classes.indices where schema[index].owner == nil {
            let item = schema[index]
            let names = declared[index].map { [$0.key.key] } ?? PartitionKey.names
            let column = names.lazy.compactMap { item.columnIndex($0) }.first {
                PartitionKey.canHold(schema.storedType(of: item.columns[$0]))
            }
            if let column { partitionColumns[index] = column }
        }
    }

    // MARK: Grants

    private mutating func add(_ grant: GrantDeclaration, of book: RuleBook) {
        let place = "\(book.file):\(grant.line): grants: "
        guard let index = schema.index(of: grant.className.key), schema[index].owner == nil else {
            let known = schema.classes.filter { $0.owner == nil }.map(\.name)
            let hint = grant.className.key.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
            problems.append("\(place)there is no class '\(grant.className.key)'\(hint)")
            return
        }
        let user = column(grant.user, index, ["objectId", "string"], "a user's id", book.file)
        let role = column(grant.role, index, ["string"], "the name of a role", book.file)
        let scope = grant.scope.map {
            column($0, index, ["objectId", "uuid", "string", "int"], "the key of an object", book.file)
        }
        guard let user, let role else { return }
        if let scope, scope == nil { return }
        if let scope = scope ?? nil, let target = schema[index].columns[scope].linkTarget,
            schema[index].columns[scope].isOptional, schema[index].columns[scope].deleteRule == .nullify
        {
            let name = "\(schema[index].name).\(schema[index].columns[scope].name)"
            notes.append(
                "\(place)\(name) becomes nil when its \(target) is deleted, and a role without a \(target) counts "
                    + "everywhere; declare it @Persisted(onDelete: .cascade) so that the role is deleted too.")
        }
        let exclusive = grant.exclusive.compactMap { entry in
            if case .string(let next) = entry.value.content { (entry.key, next) } else { nil }
        }
        let source = GrantColumns(
            classIndex: index, userColumn: user, roleColumn: role, scopeColumn: scope ?? nil, roles: grant.roles,
            exclusive: Dictionary(exclusive, uniquingKeysWith: { first, _ in first }))
        if !grantColumns.contains(source) { grantColumns.append(source) }
    }

    private mutating func column(
        _ entry: RuleNode.Entry, _ index: Int, _ types: [String], _ use: String, _ file: String
    ) -> Int? {
        let item = schema[index]
        guard let column = item.columnIndex(entry.key) else {
            let hint = entry.key.nearest(in: item.columns.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
            problems.append("\(file):\(entry.line): grants: \(item.name) has no property '\(entry.key)'\(hint)")
            return nil
        }
        let type = schema.storedType(of: item.columns[column])
        let name = if case .int = type { "int" } else { type.name }
        guard types.contains(name) else {
            problems.append(
                "\(file):\(entry.line): grants: \(item.name).\(entry.key) is of type \(type.name), which can't hold "
                    + "\(use); possible types: \(types.joined(separator: ", ")).")
            return nil
        }
        return column
    }
}

extension ClassRole {
    /// Whether this role leaves no user for the other, later role.
    fileprivate func covers(_ other: ClassRole) -> Bool {
        (isForAnonymous || !other.isForAnonymous) && (applyWhen == .constant(true) || applyWhen == other.applyWhen)
    }
}
