internal import TomboloModel

extension RuleBook {
    private static let matrixKeys = [
        "scope", "services", "roles", "everywhere", "read", "write", "operations", "users", "permissions",
    ]

    mutating func readMatrix(_ node: RuleNode) {
        guard case .map(let entries) = node.content else {
            return problem(node.line, "'matrix' must be a mapping with scope, services and roles, not \(node.kind).")
        }
        var declaration = MatrixDeclaration(line: node.line)
        for entry in entries where !Self.matrixKeys.contains(entry.key) {
            problem(entry.line, unknownKey(entry.key, in: Self.matrixKeys, of: "matrix"))
        }
        if let scope = node["scope"] { declaration.scope = scopeProperty(scope, "matrix: 'scope'") }
        declaration.read = node["read"]
        declaration.write = node["write"]
        readOperations(node["operations"], &declaration)
        guard case .map(let services)? = node["services"]?.content, !services.isEmpty else {
            return problem(
                (node["services"] ?? node).line,
                "matrix: it has no services; add services: {NAME: CLASS}, with a name for each class or group of "
                    + "classes.")
        }
        for entry in services { readService(entry, &declaration) }
        guard case .map(let roles)? = node["roles"]?.content, !roles.isEmpty else {
            return problem(
                (node["roles"] ?? node).line,
                "matrix: it has no roles; add roles: {ROLE: {SERVICE: crud}}, with a dash for each missing letter."
            )
        }
        guard roles.count <= Self.maximumRoleCount else {
            return problem(
                roles[0].line, "matrix: \(roles.count) roles; at most \(Self.maximumRoleCount) are allowed.")
        }
        for entry in roles {
            if let role = matrixRole(entry, declaration) { declaration.roles.append(role) }
        }
        readEverywhere(node["everywhere"], &declaration)
        readUserPermissions(node, &declaration)
        matrixDeclaration = declaration
    }

    /// Reads who may do something that isn't about objects, such as seeing accounts.
    private mutating func readOperations(_ node: RuleNode?, _ declaration: inout MatrixDeclaration) {
        guard let node else { return }
        guard case .map(let entries) = node.content else {
            return problem(
                node.line,
                "matrix: 'operations' must be a mapping {OPERATION: CONDITION} with conditions on the user, not "
                    + "\(node.kind)."
            )
        }
        let known = MatrixAccess.operations.map(\.name)
        for entry in entries {
            guard known.contains(entry.key) else {
                let hint = entry.key.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
                problem(
                    entry.line,
                    "matrix, operations: there is no operation "
                        + "'\(entry.key.shortened(toByteCount: String.nearestLengthLimit))'\(hint) Operations: "
                        + "\(known.joined(separator: ", ")). Operations on objects belong to the roles of their class.")
                continue
            }
            declaration.operations.append(entry)
        }
    }

    private mutating func scopeProperty(_ node: RuleNode, _ what: String) -> RuleNode.Entry? {
        guard case .string(let name) = node.content, !name.isEmpty else {
            problem(
                node.line,
                "\(what) must be the name of the property that links to the object that roles are granted in, not "
                    + "\(node.kind).")
            return nil
        }
        return .init(key: name, line: node.line, value: node)
    }

    /// Reads a class, a list of classes, or a mapping from classes to the properties that link their objects. An empty
    /// list declares a service that rules ask for by its name.
    private mutating func readService(_ entry: RuleNode.Entry, _ declaration: inout MatrixDeclaration) {
        var found: [MatrixDeclaration.ServiceClass] = []
        func name(_ node: RuleNode) -> String? {
            if case .string(let name) = node.content, !name.isEmpty { name } else { nil }
        }
        switch entry.value.content {
        case .map(let entries) where !entries.isEmpty:
            for item in entries {
                guard let scope = scopeProperty(item.value, "matrix, service '\(entry.key)', \(item.key): this") else {
                    continue
                }
                found.append(.init(name: item.key, line: item.line, scope: scope))
            }
        case .list(let nodes) where nodes.allSatisfy { name($0) != nil }:
            found = nodes.compactMap { node in name(node).map { .init(name: $0, line: node.line, scope: nil) } }
        default:
            guard let name = name(entry.value) else {
                return problem(
                    entry.line,
                    "matrix: the service '\(entry.key.shortened(toByteCount: 60))' must be a class, a list of classes "
                        + "or a mapping {CLASS: PROPERTY}, not \(entry.value.kind).")
            }
            found = [.init(name: name, line: entry.value.line, scope: nil)]
        }
        for item in found {
            let others = declaration.services.filter { $0.classes.contains { $0.name == item.name } }
            if let other = others.first?.name ?? (found.filter { $0.name == item.name }.count > 1 ? entry.key : nil) {
                problem(
                    item.line,
                    "matrix: \(item.name) is already in the service '\(other)'; a class can be in only one "
                        + "service.")
            }
            if item.scope == nil, declaration.scope == nil {
                problem(
                    item.line,
                    "matrix: it doesn't say which property of \(item.name) links to the object that roles are granted "
                        + "in; add scope: PROPERTY to the matrix.")
            }
        }
        declaration.services.append(.init(name: entry.key, classes: found))
    }

    /// Reads the roles that apply everywhere. Their boxes apply to every object of a service.
    private mutating func readEverywhere(_ node: RuleNode?, _ declaration: inout MatrixDeclaration) {
        guard let node else { return }
        guard case .map(let entries) = node.content else {
            return problem(
                node.line,
                "matrix: 'everywhere' must be a mapping {ROLE: {SERVICE: crud}} of roles that apply everywhere, not "
                    + "\(node.kind).")
        }
        guard entries.count <= Self.maximumRoleCount else {
            return problem(
                node.line, "matrix: \(entries.count) roles; at most \(Self.maximumRoleCount) are allowed.")
        }
        for entry in entries {
            if declaration.roles.contains(where: { $0.name == entry.key }) {
                problem(
                    entry.line,
                    "matrix: '\(entry.key.shortened(toByteCount: 60))' is already one of the 'roles'; a role counts "
                        + "either within an object or everywhere.")
            } else if let role = matrixRole(entry, declaration) {
                declaration.everywhere.append(role)
            }
        }
    }

    private mutating func matrixRole(
        _ entry: RuleNode.Entry, _ declaration: MatrixDeclaration
    ) -> MatrixDeclaration.Role? {
        let place = "matrix, role '\(entry.key.shortened(toByteCount: 60))'"
        guard case .map(let cells) = entry.value.content else {
            problem(entry.value.line, "\(place): expected {SERVICE: letters of crud}, not \(entry.value.kind).")
            return nil
        }
        let services = declaration.services.map(\.name)
        var permitted: [String: Set<Operation>] = [:]
        for cell in cells {
            guard services.contains(cell.key) else {
                let hint = cell.key.nearest(in: services).map { "; did you mean '\($0)'?" } ?? "."
                problem(
                    cell.line,
                    "\(place): there is no service '\(cell.key.shortened(toByteCount: String.nearestLengthLimit))'"
                        + "\(hint) Services: \(services.joined(separator: ", ")).")
                continue
            }
            permitted[cell.key] = operations(cell, place)
        }
        for service in services where !cells.contains(where: { $0.key == service }) {
            problem(entry.line, "\(place): it doesn't list the service '\(service)'; add \(service): ----.")
        }
        return .init(name: entry.key, line: entry.line, permitted: permitted)
    }

    private mutating func operations(_ cell: RuleNode.Entry, _ place: String) -> Set<Operation> {
        let place = "\(place), \(cell.key)"
        guard case .string(let text) = cell.value.content, !text.isEmpty, text.count <= 4 else {
            problem(
                cell.value.line, "\(place): expected letters of crud, such as -ru- or ----, not \(cell.value.kind).")
            return []
        }
        var result: Set<Operation> = []
        for letter in text where letter != "-" {
            guard let operation = PermissionMatrix.operations.first(where: { PermissionMatrix.letter($0) == letter })
            else {
                problem(
                    cell.value.line,
                    "\(place): '\(letter)' isn't a letter of crud: c to create, r to read, u to update, d to delete.")
                continue
            }
            if !result.insert(operation).inserted { problem(cell.value.line, "\(place): '\(letter)' appears twice.") }
        }
        if !result.isEmpty, !result.contains(.read) {
            problem(
                cell.value.line,
                "\(place): '\(text)' has no r, but users who may change an object may read it; add r, or write ----.")
        }
        return result
    }
}
