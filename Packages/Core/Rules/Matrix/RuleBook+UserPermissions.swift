internal import TomboloModel

/// What users may do even where they have no role: `users` lists the kinds of users, `permissions` says which kinds may
/// do what.
extension RuleBook {
    /// The most groups of users, and also the most permissions.
    static let maximumPermissionCount = 50

    mutating func readUserPermissions(_ node: RuleNode, _ declaration: inout MatrixDeclaration) {
        guard node["users"] != nil || node["permissions"] != nil else { return }
        guard case .map(let groups)? = node["users"]?.content, !groups.isEmpty else {
            return problem(
                (node["users"] ?? node).line,
                "matrix: 'users' must be a mapping {GROUP: CONDITION} with a condition on the user for each group, in "
                    + "order of evaluation; the last one can be {}.")
        }
        guard case .map(let permissions)? = node["permissions"]?.content, !permissions.isEmpty else {
            return problem(
                (node["permissions"] ?? node).line,
                "matrix: 'permissions' must be a mapping {NAME: {GROUP: true}} that says for each group of 'users' "
                    + "whether it has the permission.")
        }
        for entries in [groups, permissions] where entries.count > Self.maximumPermissionCount {
            return problem(
                entries[0].line,
                "matrix: \(entries.count) entries; at most \(Self.maximumPermissionCount) are allowed.")
        }
        for entry in groups {
            checkName(entry, "users")
            declaration.users.append(.init(name: entry.key, line: entry.line, condition: entry.value))
        }
        for entry in permissions {
            checkName(entry, "permissions")
            if let permission = userPermission(entry, groups.map(\.key)) { declaration.permissions.append(permission) }
        }
    }

    private mutating func checkName(_ entry: RuleNode.Entry, _ section: String) {
        guard entry.key.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_\-]{0,39}/#) == nil else { return }
        problem(
            entry.line,
            "matrix, \(section): '\(entry.key.shortened(toByteCount: 60))' isn't a valid name: it must have 1 to 40 "
                + "letters, digits, '-' and '_', and begin with a letter.")
    }

    private mutating func userPermission(
        _ entry: RuleNode.Entry, _ groups: [String]
    ) -> MatrixDeclaration.UserPermission? {
        let place = "matrix, permission '\(entry.key.shortened(toByteCount: 60))'"
        guard case .map(let cells) = entry.value.content else {
            problem(entry.value.line, "\(place): expected {GROUP: true or false}, not \(entry.value.kind).")
            return nil
        }
        var permitted: Set<String> = []
        for cell in cells {
            guard groups.contains(cell.key) else {
                let hint = cell.key.nearest(in: groups).map { "; did you mean '\($0)'?" } ?? "."
                problem(
                    cell.line,
                    "\(place): 'users' has no group '\(cell.key.shortened(toByteCount: String.nearestLengthLimit))'"
                        + "\(hint) Groups: \(groups.joined(separator: ", ")).")
                continue
            }
            guard case .bool(let isPermitted) = cell.value.content else {
                problem(cell.value.line, "\(place), \(cell.key): expected true or false, not \(cell.value.kind).")
                continue
            }
            if isPermitted { permitted.insert(cell.key) }
        }
        for group in groups where !cells.contains(where: { $0.key == group }) {
            problem(entry.line, "\(place): it doesn't list the group '\(group)'; add \(group): false.")
        }
        return .init(name: entry.key, line: entry.line, groups: permitted)
    }
}
