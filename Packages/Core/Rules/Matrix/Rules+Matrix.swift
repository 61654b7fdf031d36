internal import TomboloModel

extension Rules {
    /// The matrices of the rule documents, by the document's name. Documents without one are left out.
    public var matrices: [String: PermissionMatrix] { matrixAccess.mapValues(\.matrix) }

    /// Why the subject may not see or change a document's matrix, or perform one of its `operations`; nil if the
    /// document permits it. Users who may change the matrix may do all of it.
    /// - Parameter operation: read, update, listAccounts or manageAccounts; everything else is refused.
    public func refusal(_ subject: Subject, _ operation: Operation, ofMatrixIn document: String) -> Decision.Denial? {
        guard let access = matrixAccess[document] else {
            return .init(wording: Wording("There is no permission matrix."), needsLogin: subject.isAnonymous)
        }
        let expression = access.expression(for: operation)
        if !subject.isAnonymous, expression.holds(for: subject) { return nil }
        return .init(
            wording: MatrixAccess.operations.contains(operation)
                ? Wording("Not permitted to \(operation) by the permission matrix: its rule requires \(expression).")
                : Wording("Not permitted to \(operation) the permission matrix: its rule requires \(expression)."),
            needsLogin: subject.isAnonymous)
    }

    /// The group of users that somebody belongs to by a document's matrix, and the permissions they have. Nil for a
    /// document without such permissions, and for somebody who belongs to no group.
    public func userPermissions(
        of subject: Subject, inMatrixOf document: String
    ) -> (group: String, permissions: [String])? {
        guard let access = matrixAccess[document],
            let group = access.userGroups.first(where: { $0.condition.holds(for: subject) })
        else { return nil }
        let names = access.matrix.userPermissions.filter { access.permissions[$0]?.holds(for: subject) == true }
        return (group.name, names)
    }

    /// What a role that applies everywhere may do with every object of a service, by the matrix and by the classes' own
    /// rules: the letters of `crud`, as in documents. Nil for a service without classes, since the service doesn't say
    /// what the classes' rules give the role.
    public func letters(everywhere role: String, service: String, inMatrixOf document: String) -> String? {
        guard let matrix = matrixAccess[document]?.matrix,
            let found = matrix.services.first(where: { $0.name == service })
        else { return "----" }
        guard !found.classNames.isEmpty else { return nil }
        let subject = example(of: role, inMatrixOf: document)
        return PermissionMatrix.letters { operation in
            found.classNames.allSatisfy { name in
                guard let index = schema.index(of: name) else { return false }
                return authorize(subject, operation, .objects(classIndex: index)) == .allowed(.constant(true))
            }
        }
    }

    /// A subject with this role and no other, for overviews of what roles may do. A role of the matrix is granted
    /// within some object, any other role everywhere.
    public func example(of role: String, inMatrixOf document: String) -> Subject {
        let access = matrixAccess[document]
        let scope = access.flatMap { $0.matrix.roles.contains(role) ? $0.scopeType.zero : nil }
        return Subject(user: ObjectId(), grants: [RoleGrant(role: Role(role), scope: scope)])
    }
}
