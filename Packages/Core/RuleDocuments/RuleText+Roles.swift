internal import TomboloModel
public import TomboloRules
internal import Yams

/// Adds, renames and removes roles of the matrix in the text, with the same check as for boxes: what the result says is
/// compared with what it should say, and nothing else may differ.
extension RuleText {
    /// The longest name of an added role, in characters.
    public static let maximumRoleNameCount = 40

    /// Names that the routes of roles use, or that YAML readers take for something else.
    private static let reservedNames: Set<String> = [
        "anonymous", "attendee", "everybody", "nobody", "user", "users", "role", "roles", "matrix", "null", "true",
        "false", "yes", "no", "on", "off",
    ]

    /// - Throws: ``MatrixEditError/badName(_:reason:)`` for a name with characters other than letters, digits, `-` and
    ///   `_`, one that is taken in any spelling, or one with another meaning.
    private func check(newName name: String) throws(MatrixEditError) {
        guard name.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_\-]*/#) != nil, name.count <= Self.maximumRoleNameCount else {
            throw .badName(
                name,
                reason: Wording(
                    "it must have 1 to \(Self.maximumRoleNameCount) letters, digits, '-' and '_', and begin with a "
                        + "letter."
                ))
        }
        let lower = name.lowercased()
        guard !Self.reservedNames.contains(lower) else {
            throw .badName(name, reason: Wording("the name is reserved."))
        }
        if let taken = (matrix.rows + matrix.everywhereRoles).first(where: { $0.lowercased() == lower }) {
            throw .badName(name, reason: Wording("there is already a role '\(taken)'."))
        }
        if let line = node.line(naming: name) {
            throw .badName(name, reason: Wording("the rules already use this word on line \(line)."))
        }
    }

    // MARK: Changes

    /// The same document with another role, added after the others of its kind.
    /// - Parameters:
    ///   - isEverywhere: whether it applies everywhere, and not within an object.
    ///   - boxes: the ticked boxes; a missing service has none.
    /// - Throws: ``MatrixEditError``.
    public func adding(
        _ name: String, isEverywhere: Bool, boxes: [String: Set<Operation>] = [:]
    ) throws(MatrixEditError) -> RuleText {
        try check(newName: name)
        let services = matrix.services.map(\.name)
        for service in boxes.keys.sorted() where !services.contains(service) {
            throw .unknownService(service, known: services)
        }
        for (service, operations) in boxes {
            for operation in operations where !PermissionMatrix.operations.contains(operation) {
                throw .unknownOperation(operation.name)
            }
            for operation in PermissionMatrix.operations
            where operations.contains(operation)
                && !matrix.counts(operation, of: service, isEverywhere: isEverywhere)
            {
                throw .countsNowhere(
                    .init(role: name, service: service, operation: operation), isEverywhere: isEverywhere)
            }
            if !operations.isEmpty, !operations.contains(.read), let first = operations.first {
                throw .needsRead(.init(role: name, service: service, operation: first))
            }
        }
        let letters = services.map { service in
            PermissionMatrix.letters { boxes[service]?.contains($0) == true }
        }
        let section = isEverywhere ? "everywhere" : "roles"
        var editor = RoleEditor(text)
        guard editor.insertListed(name), editor.insertRow(name, section, Array(zip(services, letters))) else {
            throw .rolesNotPlain(name, line: editor.line)
        }
        let row = RuleNode(
            .map(zip(services, letters).map { .init(key: $0, line: 0, value: RuleNode(.string($1), line: 0)) }), line: 0
        )
        return try result(editor.text, name) { node in
            node.changing(["grants"]) { $0.changingListedRoles { $0 + [name] } }
                .changing(["matrix"]) { $0.adding(.init(key: name, line: 0, value: row), to: section) }
        }
    }

    /// The same document without an added role.
    /// - Throws: ``MatrixEditError``, above all for a role that the rules name in other places.
    public func removing(_ name: String) throws(MatrixEditError) -> RuleText {
        let section = try section(of: name)
        var editor = RoleEditor(text)
        guard editor.removeListed(name), editor.removeRow(name, section) else {
            throw .rolesNotPlain(name, line: editor.line)
        }
        return try result(editor.text, name) { node in
            node.changing(["grants"]) { $0.changingListedRoles { $0.filter { $0 != name } } }
                .changing(["matrix"]) { $0.removing(name, from: section) }
        }
    }

    /// The same document with another name for an added role.
    /// - Throws: ``MatrixEditError``, above all for a role that the rules name in other places.
    public func renaming(_ name: String, to new: String) throws(MatrixEditError) -> RuleText {
        let section = try section(of: name)
        try check(newName: new)
        var editor = RoleEditor(text)
        guard editor.renameListed(name, to: new), editor.renameRow(name, section, to: new) else {
            throw .rolesNotPlain(name, line: editor.line)
        }
        return try result(editor.text, name) { node in
            node.changing(["grants"]) { $0.changingListedRoles { $0.map { $0 == name ? new : $0 } } }
                .changing(["matrix", section]) {
                    $0.changingEntries {
                        $0.map { $0.key == name ? .init(key: new, line: $0.line, value: $0.value) : $0 }
                    }
                }
        }
    }

    /// The section with the row of a role that nothing else in the rules names.
    private func section(of name: String) throws(MatrixEditError) -> String {
        guard matrix.rows.contains(name) else { throw .unknownRole(name, known: matrix.rows) }
        let section = matrix.roles.contains(name) ? "roles" : "everywhere"
        let others = node.changing(["grants"]) { $0.changingListedRoles { $0.filter { $0 != name } } }
            .changing(["matrix", section]) { $0.changingEntries { $0.filter { $0.key != name } } }
        if let line = others.line(naming: name) { throw .namedInRules(name, line: line) }
        return section
    }

    /// Whether a role can be renamed and removed: the rules name it only in the matrix and in grants.
    public func isCustom(_ name: String) -> Bool { (try? section(of: name)) != nil }

    private func result(
        _ text: String, _ name: String, expecting change: (RuleNode) -> RuleNode
    ) throws(MatrixEditError) -> RuleText {
        let edited: RuleText
        do throws(MatrixEditError) {
            edited = try RuleText(text, file: file)
        } catch {
            throw .rolesNotPlain(name, line: node.line)
        }
        guard edited.node.differenceCount(from: change(node)) == 0 else { throw .rolesNotPlain(name, line: node.line) }
        return edited
    }
}
