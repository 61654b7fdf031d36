public import TomboloModel

extension Rules {
    /// The boxes of a matrix that an operation of a subject depends on.
    public struct BoxExplanation: Hashable, Sendable {
        /// The name of the document that has the matrix.
        public let document: String
        public let service: String
        /// Of the roles that the subject has, in the matrix's order. One that is ticked is enough.
        public let boxes: [PermissionMatrix.Box]
    }

    /// Which boxes permit an operation on objects of a class if they're ticked, of the roles that a subject has.
    /// - Parameter row: of one object, in the class's column order: roles within an object count where that belongs. Without
    ///   one they count wherever they are.
    /// - Returns: nil where no box could permit it: for a class without a matrix, if the rule that decides about the subject
    ///   doesn't ask for it, for somebody who isn't logged in, and for the making of what roles are granted in.
    public func explainBoxes(
        _ subject: Subject, _ operation: Operation, className: String, row: Row? = nil
    ) -> BoxExplanation? {
        guard !subject.isAnonymous, let index = schema.index(of: className), let role = role(of: subject, index),
            role.matrix[operation] != nil
        else { return nil }
        let scope = row.flatMap { row in role.scopeColumn.map { row[$0] } }
        for (document, access) in matrixAccess.sorted(by: { $0.key < $1.key }) {
            let matrix = access.matrix
            guard let service = matrix.services.first(where: { $0.classNames.contains(schema[index].name) }) else {
                continue
            }
            // Nobody has a role within something before that exists.
            let isNew = operation == .create && role.scopeColumn == schema[index].primaryKeyIndex
            let own = subject.grants.filter { grant in
                guard let within = grant.scope else { return matrix.everywhereRows.contains(grant.role.name) }
                return !isNew && matrix.roles.contains(grant.role.name) && (scope == nil || scope == within)
            }
            if isNew, own.isEmpty { return nil }
            let names = Set(own.map(\.role.name))
            return BoxExplanation(
                document: document, service: service.name,
                boxes: matrix.rows.filter(names.contains).map {
                    PermissionMatrix.Box(role: $0, service: service.name, operation: operation)
                })
        }
        return nil
    }
}
