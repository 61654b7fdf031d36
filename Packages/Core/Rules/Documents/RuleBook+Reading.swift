internal import TomboloModel

extension RuleBook {
    /// Reads a document in either published form. It keeps the mistakes, and ``Rules/init(schema:books:)`` throws them
    /// all at once.
    public init(_ document: RuleNode, file: String) {
        self.init(file: file)
        guard case .map(let entries) = document.content else {
            problem(document.line, "a rule document must be a mapping of class names to roles, not \(document.kind).")
            return
        }
        if case .string("partition")? = document["type"]?.content {
            readPartitionConfiguration(document)
        } else if let permissions = document["permissions"] {
            readConfiguration(document, permissions)
        } else if document["collection"] != nil {
            readCollection(document, document.line)
        } else if document["roles"] != nil {
            hasDefaultRoles = true
            defaultRoles = roles(document, "default roles")
            checkKeys(document, Self.collectionKeys, "default rule")
        } else {
            for entry in entries { readTop(entry) }
            matrixDeclaration?.noteUses(in: document)
        }
        if classes.count > Self.maximumClassCount {
            problem(
                document.line, "\(classes.count) classes have rules; at most \(Self.maximumClassCount) are allowed.")
        }
    }

    mutating func problem(_ line: Int, _ message: String) { problems.append("\(file):\(line): \(message)") }
    private mutating func note(_ line: Int, _ message: String) { notes.append("\(file):\(line): \(message)") }

    // MARK: The whole

    static let topKeys = [
        "rules", "defaultRoles", "default_roles", "default_rule", "grants", "matrix", "version", "partition",
        "permissions",
    ]
    /// The version of the rule language that ``version`` in a document may name.
    static let version: Int64 = 1
    /// Keys of Device Sync's `sync/config.json` that mean nothing to rules.
    private static let configurationKeys: Set<String> = [
        "type", "state", "development_mode_enabled", "service_name", "database_name", "client_max_offline_days",
        "is_recovery_mode_disabled", "queryable_fields_names", "queryable_fields", "indexed_queryable_fields_names",
        "asymmetric_tables", "collection_queryable_fields_names", "last_disabled",
    ]
    private static let collectionKeys: Set<String> = [
        "collection", "database", "data_source", "roles", "filters", "id",
    ]

    private mutating func readTop(_ entry: RuleNode.Entry) {
        let value = entry.value
        switch entry.key {
        case "rules":
            guard case .map(let entries) = value.content else {
                return problem(value.line, "'rules' must be a mapping of class names to roles, not \(value.kind).")
            }
            for entry in entries { readClass(entry) }
        case "defaultRoles", "default_roles":
            hasDefaultRoles = true
            defaultRoles += roles(value, "default roles")
        case "default_rule":
            hasDefaultRoles = true
            defaultRoles += roles(value, "default roles")
            checkKeys(value, Self.collectionKeys, "default_rule")
        case "grants": readGrants(value)
        case "matrix": readMatrix(value)
        case "partition": readPartition(value)
        case "version":
            guard case .int(let version) = value.content, version >= 1 else {
                return problem(value.line, "'version' must be a whole number of at least 1, not \(value.kind).")
            }
            guard version == Self.version else {
                return problem(
                    value.line,
                    "the document has version \(version), but this program knows only version "
                        + "\(Self.version). Update it.")
            }
        case let key where key.hasPrefix("x-"): break
        default: readClass(entry)
        }
    }

    private mutating func readConfiguration(_ document: RuleNode, _ permissions: RuleNode) {
        guard case .map(let top) = document.content else { return }
        for entry in top where entry.key != "permissions" && entry.key != "grants" {
            if Self.configurationKeys.contains(entry.key) {
                note(entry.line, "'\(entry.key)' is ignored: it isn't about rules.")
            } else {
                problem(entry.line, unknownKey(entry.key, in: ["permissions", "grants"], of: "a sync configuration"))
            }
        }
        if let grants = document["grants"] { readGrants(grants) }
        guard case .map(let entries) = permissions.content else {
            return problem(permissions.line, "'permissions' must be a mapping, not \(permissions.kind).")
        }
        for entry in entries {
            switch entry.key {
            case "version", "grants", "matrix", "permissions":
                problem(entry.line, unknownKey(entry.key, in: ["rules", "defaultRoles"], of: "'permissions'"))
            default: readTop(entry)
            }
        }
    }

    /// Reads Device Sync's `sync/config.json` of an app that synchronises partitions.
    private mutating func readPartitionConfiguration(_ document: RuleNode) {
        guard case .map(let entries) = document.content else { return }
        for entry in entries {
            switch entry.key {
            case "partition": readPartition(entry.value)
            case "grants": readGrants(entry.value)
            case let key where Self.configurationKeys.contains(key):
                if key != "type" { note(entry.line, "'\(key)' is ignored: it isn't about rules.") }
            default:
                problem(entry.line, unknownKey(entry.key, in: ["partition", "grants"], of: "a sync configuration"))
            }
        }
        if document["partition"] == nil {
            problem(
                document.line,
                "a configuration of type partition needs a partition key; add partition: {key: …}.")
        }
    }

    /// Reads the partition key, and the permissions that stand in for a default role.
    private mutating func readPartition(_ node: RuleNode) {
        guard case .map(let entries) = node.content else {
            return problem(
                node.line, "'partition' must be a mapping such as {key: PROPERTY}, not \(node.kind).")
        }
        for entry in entries {
            switch (entry.key, entry.value.content) {
            case ("key", .string(let name)) where !name.isEmpty:
                partition = PartitionDeclaration(key: .init(key: name, line: entry.value.line, value: entry.value))
            case ("key", _):
                problem(entry.line, "partition: 'key' must be the name of a property, not \(entry.value.kind).")
            case ("permissions", _): readPartitionPermissions(entry.value)
            case ("type", _), ("required", _): break
            default:
                problem(
                    entry.line, unknownKey(entry.key, in: ["key", "permissions", "type", "required"], of: "partition"))
            }
        }
        if node["key"] == nil {
            problem(node.line, "partition: it doesn't say which property holds an object's partition; add key: ….")
        }
    }

    private mutating func readPartitionPermissions(_ node: RuleNode) {
        guard case .map(let entries) = node.content else {
            return problem(
                node.line,
                "partition: 'permissions' must be a mapping with read and write, not \(node.kind).")
        }
        for entry in entries where !["read", "write"].contains(entry.key) {
            problem(entry.line, unknownKey(entry.key, in: ["read", "write"], of: "partition, permissions"))
        }
        var role = RoleDeclaration(name: "partition", line: node.line)
        role.applyWhen = RuleNode(.map([]), line: node.line)
        role.read = node["read"]
        role.write = node["write"]
        hasDefaultRoles = true
        defaultRoles.append(role)
    }

    private mutating func readCollection(_ document: RuleNode, _ line: Int) {
        guard case .string(let name)? = document["collection"]?.content else {
            return problem(line, "'collection' must be the name of a class.")
        }
        readClass(.init(key: name, line: line, value: document))
        if let grants = document["grants"] { readGrants(grants) }
    }

    // MARK: Classes and roles

    private mutating func readClass(_ entry: RuleNode.Entry) {
        if let other = classes.first(where: { $0.name == entry.key }) {
            return problem(entry.line, "\(entry.key) already has rules, on line \(other.line).")
        }
        if case .map = entry.value.content {
            checkKeys(entry.value, Self.collectionKeys.union(["grants"]), entry.key)
        }
        let roles = roles(entry.value, entry.key)
        classes.append(ClassDeclaration(name: entry.key, line: entry.line, roles: roles))
    }

    private mutating func checkKeys(_ node: RuleNode, _ known: Set<String>, _ place: String) {
        guard case .map(let entries) = node.content else { return }
        for entry in entries where !known.contains(entry.key) {
            problem(entry.line, unknownKey(entry.key, in: ["roles"], of: place))
        }
        if let filters = node["filters"], case .list(let items) = filters.content, !items.isEmpty {
            problem(
                filters.line,
                "\(place): filters aren't supported; put their conditions into the roles' read and write.")
        }
    }

    private mutating func roles(_ node: RuleNode, _ place: String) -> [RoleDeclaration] {
        let list = if case .map = node.content { node["roles"] ?? RuleNode(.null, line: node.line) } else { node }
        guard case .list(let nodes) = list.content else {
            problem(list.line, "\(place): expected {roles: [...]} or a list of roles, not \(list.kind).")
            return []
        }
        guard nodes.count <= Self.maximumRoleCount else {
            problem(list.line, "\(place): \(nodes.count) roles; at most \(Self.maximumRoleCount) are allowed.")
            return []
        }
        let roles = nodes.compactMap { role($0, place) }
        for (index, role) in roles.enumerated() where roles[..<index].contains(where: { $0.name == role.name }) {
            problem(role.line, "\(place): there are two roles named '\(role.name)'.")
        }
        return roles
    }

    private static let commonKeys = [
        "name", "read", "write", "insert", "delete", "search", "fields", "additional_fields", "operations", "anonymous",
        "matrix", "create", "requires",
    ]

    private mutating func role(_ node: RuleNode, _ className: String) -> RoleDeclaration? {
        guard case .map(let entries) = node.content else {
            problem(node.line, "\(className): a role must be a mapping with a name, not \(node.kind).")
            return nil
        }
        guard case .string(let name)? = node["name"]?.content, !name.isEmpty else {
            problem(node.line, "\(className): a role has no name; add name: …")
            return nil
        }
        let place = "\(className), role '\(name.shortened(toByteCount: 60))'"
        var role = RoleDeclaration(name: name, line: node.line)
        role.isSecondForm = node["apply_when"] != nil || node["document_filters"] != nil
        if role.isSecondForm, node["applyWhen"] != nil {
            problem(node.line, "\(place): it mixes applyWhen with apply_when or document_filters; use one form.")
        }
        let known = Self.commonKeys + (role.isSecondForm ? ["apply_when", "document_filters"] : ["applyWhen"])
        for entry in entries where !known.contains(entry.key) && entry.key != "applyWhen" {
            problem(entry.line, unknownKey(entry.key, in: known, of: place))
        }
        role.applyWhen = node["applyWhen"] ?? node["apply_when"]
        if role.applyWhen == nil {
            problem(
                node.line,
                "\(place): it doesn't say who it's for; add \(role.isSecondForm ? "apply_when" : "applyWhen"): {} for "
                    + "everybody who is logged in.")
        }
        role.isForAnonymous = flag(node["anonymous"], "anonymous", place) ?? false
        role.usesMatrix = flag(node["matrix"], "matrix", place) ?? true
        if role.isSecondForm {
            readSecondForm(node, place, &role)
        } else {
            role.read = node["read"]
            role.write = node["write"]
        }
        role.insert = node["insert"]
        role.delete = node["delete"]
        role.create = node["create"]
        if let requires = node["requires"] {
            if case .map(let entries) = requires.content {
                role.requires = entries
            } else {
                problem(
                    requires.line,
                    "\(place): requires must be a mapping of permissions to conditions on objects, such as {publish: "
                        + "{state: published}}, not \(requires.kind).")
            }
        }
        role.fields = node["fields"]
        role.additionalFields = node["additional_fields"]
        if let search = node["search"] { note(search.line, "\(place): 'search' is ignored; there is no search index.") }
        readOperations(node["operations"], place, &role)
        return role
    }

    private mutating func readSecondForm(_ node: RuleNode, _ place: String, _ role: inout RoleDeclaration) {
        role.readsEveryField = flag(node["read"], "read", place)
        role.writesEveryField = flag(node["write"], "write", place)
        guard let filters = node["document_filters"] else {
            if role.readsEveryField == true || role.writesEveryField == true {
                problem(
                    node.line,
                    "\(place): it permits nothing, because it has no document_filters; add document_filters: {read: "
                        + "true, write: true} for all objects.")
            } else {
                note(node.line, "\(place): it has no document_filters and permits nothing.")
            }
            role.read = RuleNode(.bool(false), line: node.line)
            role.write = RuleNode(.bool(false), line: node.line)
            return
        }
        guard case .map(let entries) = filters.content else {
            return problem(filters.line, "\(place): document_filters must be a mapping with read and write.")
        }
        for entry in entries where !["read", "write"].contains(entry.key) {
            problem(entry.line, unknownKey(entry.key, in: ["read", "write"], of: "\(place), document_filters"))
        }
        role.read = filters["read"]
        role.write = filters["write"]
        if role.read == nil || role.write == nil {
            problem(
                filters.line,
                "\(place): document_filters needs both read and write; write true or false for all "
                    + "objects.")
        }
        if ["read", "write", "fields", "additional_fields"].allSatisfy({ node[$0] == nil }) {
            problem(
                node.line,
                "\(place): it permits no fields, whatever its document_filters say; add read: true and write: true, or "
                    + "fields and additional_fields.")
        }
    }

    private mutating func readOperations(_ node: RuleNode?, _ place: String, _ role: inout RoleDeclaration) {
        guard let node else { return }
        guard case .map(let entries) = node.content else {
            return problem(
                node.line,
                "\(place): operations must be a mapping of names to expressions, not \(node.kind).")
        }
        for entry in entries {
            if ["read", "write", "create", "update", "insert", "delete"].contains(entry.key) {
                problem(
                    entry.line,
                    "\(place), operations: '\(entry.key)' doesn't belong here; use the role's own read, write, insert "
                        + "and delete.")
            } else {
                role.operations.append(entry)
            }
        }
    }

    private mutating func flag(_ node: RuleNode?, _ key: String, _ place: String) -> Bool? {
        guard let node else { return nil }
        switch node.content {
        case .bool(let value): return value
        case .string("%%true"): return true
        case .string("%%false"): return false
        default:
            problem(node.line, "\(place): '\(key)' must be true or false here, not \(node.kind).")
            return nil
        }
    }

    // MARK: Grants

    private mutating func readGrants(_ node: RuleNode) {
        let nodes: [RuleNode] = if case .list(let nodes) = node.content { nodes } else { [node] }
        for node in nodes {
            guard case .map(let entries) = node.content else {
                problem(
                    node.line, "grants: expected {class: …, user: …, role: …, scope: …}, not \(node.kind).")
                continue
            }
            let named = ["class", "user", "role", "scope"]
            let known = named + ["roles", "exclusive"]
            for entry in entries where !known.contains(entry.key) {
                problem(entry.line, unknownKey(entry.key, in: known, of: "grants"))
            }
            func name(_ key: String) -> RuleNode.Entry? {
                guard let entry = entries.first(where: { $0.key == key }) else { return nil }
                guard case .string(let name) = entry.value.content else { return nil }
                return .init(key: name, line: entry.line, value: entry.value)
            }
            for key in named where name(key) == nil && (key != "scope" || node["scope"] != nil) {
                problem(
                    node.line,
                    "grants: '\(key)' is missing or isn't a name; it must name the "
                        + "\(key == "class" ? "class of the objects that grant roles" : "property with the \(key)").")
            }
            guard let className = name("class"), let user = name("user"), let role = name("role") else { continue }
            grants.append(
                GrantDeclaration(
                    className: className, user: user, role: role, scope: name("scope"), roles: roleNames(node["roles"]),
                    exclusive: exclusiveRoles(node), line: node.line))
        }
    }

    private mutating func roleNames(_ node: RuleNode?) -> [String]? {
        guard let node else { return nil }
        var names: [String] = []
        if case .list(let nodes) = node.content {
            for case .string(let name) in nodes.map(\.content) where !name.isEmpty { names.append(name) }
            if names.count == nodes.count, !names.isEmpty { return names }
        }
        problem(node.line, "grants: 'roles' must be a list of the names of the roles that it grants, not \(node.kind).")
        return nil
    }

    /// Reads `exclusive: {owner: organizer}`: the roles with one holder in each scope, and the role that a holder gets
    /// after handing one over.
    private mutating func exclusiveRoles(_ grant: RuleNode) -> [RuleNode.Entry] {
        guard let node = grant["exclusive"] else { return [] }
        guard case .map(let entries) = node.content, !entries.isEmpty else {
            problem(
                node.line,
                "grants: 'exclusive' must be a mapping {ROLE: ROLE} from a role that only one user has in each scope "
                    + "to the role that this user gets after handing it over, not \(node.kind).")
            return []
        }
        if grant["scope"] == nil {
            problem(node.line, "grants: 'exclusive' applies to roles within an object; add scope: PROPERTY.")
        }
        let listed = grant["roles"].flatMap { roles -> [String]? in
            guard case .list(let nodes) = roles.content else { return nil }
            return nodes.compactMap { if case .string(let name) = $0.content { name } else { nil } }
        }
        for entry in entries {
            guard case .string(let next) = entry.value.content, !next.isEmpty else {
                problem(
                    entry.line, "grants, exclusive: '\(entry.key)' needs the name of a role, not \(entry.value.kind).")
                continue
            }
            if next == entry.key {
                problem(
                    entry.line,
                    "grants, exclusive: a user who hands '\(next)' over would keep it; name another role.")
            }
            for name in [entry.key, next] where listed?.contains(name) == false {
                let hint = name.nearest(in: listed ?? []).map { "; did you mean '\($0)'?" } ?? "."
                let shown = name.shortened(toByteCount: String.nearestLengthLimit)
                problem(entry.line, "grants, exclusive: 'roles' doesn't list '\(shown)'\(hint)")
            }
        }
        return entries
    }

    func unknownKey(_ key: String, in known: [String], of place: String) -> String {
        let shown = key.shortened(toByteCount: String.nearestLengthLimit)
        let hint = key.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
        return "\(place): '\(shown)' isn't known here\(hint)"
    }
}
