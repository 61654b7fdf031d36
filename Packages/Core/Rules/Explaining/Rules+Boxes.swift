public import TomboloModel

extension Rules {
    /// The boxes of a matrix that decide about an operation of a subject.
    public struct BoxExplanation: Hashable, Sendable {
        /// The name of the document that has the matrix.
        public let document: String
        public let service: String
        /// The boxes of the subject's roles, in the matrix's order. One ticked box is enough.
        public let boxes: [PermissionMatrix.Box]
    }

    /// Which boxes of a subject's roles permit an operation on objects of a class when they're ticked.
    /// - Parameter row: the row of one object, in the class's column order. With a row, only roles that are granted
    ///   where the object belongs, or everywhere, count. Without one, roles count wherever they are granted.
    /// - Returns: nil if no box could permit the operation: for a class without a matrix, if the rule that decides
    ///   about the subject doesn't use the matrix, if nobody is logged in, and for creating the objects that roles are
    ///   granted in.
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
            // Nobody has a role within an object that doesn't exist yet.
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
