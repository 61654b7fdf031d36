public import TomboloChangesets
public import TomboloModel

/// Decides who may do what, for HTTP and sync alike: one table, one ``authorize(_:_:_:)``.
///
/// For each class a subject has the first role whose condition holds, and no other. If none holds, everything is
/// denied. A write needs the object's row to be within what the role may write both before and after it, so that nobody
/// can move an object into or out of their reach. List elements are decided like the object that has the list.
/// `docs/rules.md` describes the language of rule documents.
public struct Rules: Sendable {
    /// Tells these rules from any made at another time, even if both say the same.
    public final class Identity: Hashable, Sendable {
        public static func == (first: Identity, second: Identity) -> Bool { first === second }
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// A key for caches of what follows from these rules. Copies share it.
    public let identity = Identity()
    public let schema: Schema
    /// The classes that grant roles. Servers read a subject's grants there, and read them again when such an object
    /// changes.
    public let grantColumns: [GrantColumns]
    /// What documents say that has no effect, as sentences that begin with file and line.
    public let notes: [String]
    /// By class position, without element classes.
    let roles: [Int: [ClassRole]]
    /// By the name of the document with the matrix.
    let matrixAccess: [String: MatrixAccess]
    /// The column with an object's partition, by class position, without element classes. Classes without such a column
    /// aren't synchronised in partitions.
    public let partitionColumns: [Int: Int]
    private let bookFingerprint: UInt64
    /// What the rules use of the user, in a fixed order.
    private let references: [UserReference]

    /// - Throws: ``RuleError`` with every mistake in the document.
    public init(schema: Schema, book: RuleBook) throws(RuleError) { try self.init(schema: schema, books: [book]) }

    /// The rules of several apps that share a server.
    /// - Throws: ``RuleError`` with every mistake in every document, and every class that two documents have rules for.
    public init(schema: Schema, books: [RuleBook]) throws(RuleError) {
        let compiler = RuleCompiler(schema, books)
        guard compiler.problems.isEmpty else { throw RuleError(problems: compiler.problems) }
        self.schema = schema
        grantColumns = compiler.grantColumns
        notes = compiler.notes
        roles = compiler.roles
        partitionColumns = compiler.partitionColumns
        matrixAccess = compiler.matrices
        var hash = StableHash()
        var references: Set<UserReference> = []
        for index in roles.keys.sorted() {
            hash.add(schema[index].name)
            hash.add(Int64(roles[index]?.count ?? 0))
            for role in roles[index] ?? [] {
                role.add(to: &hash)
                for expression in role.expressions { references.formUnion(expression.references) }
            }
        }
        bookFingerprint = hash.value
        self.references = references.sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
    }

    // MARK: Decisions

    /// Whether the subject may do this, and to which objects. Denies anything that no rule permits.
    public func authorize(_ subject: Subject, _ operation: Operation, _ resource: Resource) -> Decision {
        guard schema.classes.indices.contains(resource.classIndex) else {
            return .denied(Self.noSuchClass)
        }
        let classIndex = schema.rootClassIndex(of: resource.classIndex)
        let role = role(of: subject, classIndex)
        guard let role, mayPermit(subject, role, operation, classIndex) else {
            return .denied(denial(subject, operation, classIndex, role))
        }
        let expression = role.expression(for: operation)
        let columns = schema.classes[classIndex].columnIndexByName
        switch resource {
        case .objects(_, let values):
            let filter = expression.predicate(for: subject) { column in
                values.isEmpty ? nil : columns[column.name].flatMap { values[$0] }
            }
            return .allowed(within(subject.partition, classIndex, filter))
        case .object:
            return decide(subject, operation, resource, classIndex, role, .constant(true)) { row in
                expression.verdict(for: subject) { column in columns[column.name].map { row[$0] } ?? .null } == true
            }
        }
    }

    /// Why the subject may not do this to any object of a class, given by its position; nil if the rules permit it for
    /// some. This is cheaper than ``authorize(_:_:_:)``, which also builds a filter.
    public func refusal(_ subject: Subject, _ operation: Operation, ofClassAt index: Int) -> Decision.Denial? {
        guard schema.classes.indices.contains(index) else { return Self.noSuchClass }
        let classIndex = schema.rootClassIndex(of: index)
        let role = role(of: subject, classIndex)
        if let role, mayPermit(subject, role, operation, classIndex) { return nil }
        return denial(subject, operation, classIndex, role)
    }

    /// Whether the role permits the operation on some objects, within the session's partition.
    private func mayPermit(_ subject: Subject, _ role: ClassRole, _ operation: Operation, _ classIndex: Int) -> Bool {
        if let partition = subject.partition, partitionProblem(partition, classIndex) != nil { return false }
        return role.expression(for: operation).verdict(for: subject) != false
    }

    private static let noSuchClass = Decision.Denial(
        wording: Wording("There is no such class."), needsLogin: false)

    /// - Parameter holds: whether a row of the class satisfies the filter.
    private func decide(
        _ subject: Subject, _ operation: Operation, _ resource: Resource, _ classIndex: Int, _ role: ClassRole?,
        _ filter: Predicate, written: Set<Int> = [], _ holds: (Row) -> Bool
    ) -> Decision {
        guard let role, filter != .constant(false) else {
            return .denied(denial(subject, operation, classIndex, role))
        }
        guard case .object(_, let old, let new) = resource else { return .allowed(filter) }
        let item = schema[classIndex]
        let rows: [Row?] =
            switch operation {
            case .create: [new]
            case .update: [old, new]
            default: [old]
            }
        if let partition = subject.partition,
            let problem = partitionProblem(partition, classIndex, rows.compactMap { $0 })
        {
            return .denied(
                .init(
                    wording: Wording("Not permitted to \(operation) this \(item.name): \(problem)"), needsLogin: false))
        }
        let isPermitted = rows.allSatisfy { row in
            guard let row, row.values.count == item.columns.count else { return false }
            return holds(row)
        }
        guard isPermitted else { return .denied(denial(subject, operation, classIndex, role)) }
        if operation == .update, let old, let new,
            let refusal = refusal(subject, moving: old, to: new, classIndex, role)
        {
            return .denied(refusal)
        }
        if let new, let refusal = refusal(subject, operation, making: new, of: old, classIndex, role) {
            return .denied(refusal)
        }
        // In a partition, the session sets the partition column, not the device.
        let given = subject.partition == nil ? nil : partitionColumns[classIndex]
        let changed = role.fixedColumns.sorted().first { column in
            if column == given { return false }
            return switch operation {
            case .create: new.map { !isUnset($0[column], item.columns[column]) } ?? false
            // If an update to a hidden column were refused only when it changes the value, the value could be guessed.
            case .update:
                old?[column] != new?[column] || written.contains(column) && role.hiddenColumns.contains(column)
            default: false
            }
        }
        if let changed {
            return .denied(denial(subject, operation, classIndex, role, changing: item.columns[changed].name))
        }
        return .allowed(filter)
    }

    /// Why an object may not move from one scope of the matrix to another, such as from event to event; nil if it may,
    /// or if it doesn't move. For users whom only the matrix permits this, a move is a deletion in the old scope and a
    /// creation in the new one.
    private func refusal(
        _ subject: Subject, moving old: Row, to new: Row, _ classIndex: Int, _ role: ClassRole
    ) -> Decision.Denial? {
        guard let scope = role.scopeColumn, old[scope] != new[scope] else { return nil }
        let item = schema[classIndex]
        func holds(_ expression: RuleExpression, _ row: Row) -> Bool {
            expression.verdict(for: subject) { column in
                item.columnIndexByName[column.name].map { row[$0] } ?? .null
            } == true
        }
        let name = item.columns[scope].name
        let wording: Wording
        if !holds(role.departure, old) {
            wording = Wording(
                "Not permitted to change the \(name) of this \(item.name): that moves it, and the matrix doesn't "
                    + "permit deleting it in the old \(name).")
        } else if !holds(role.arrival, new) {
            wording = Wording(
                "Not permitted to change the \(name) of this \(item.name): that moves it, and the matrix doesn't "
                    + "permit creating it in the new \(name).")
        } else {
            return nil
        }
        return .init(wording: wording, needsLogin: subject.isAnonymous)
    }

    /// Whether the value is nil or the zero of its type, as in a new object whose property the device didn't set.
    private func isUnset(_ value: Value, _ column: Column) -> Bool {
        value.isNull || value == schema.storedType(of: column).zero
    }

    /// The role that decides about a class, given by its position. The class must not be an element class.
    func role(of subject: Subject, _ classIndex: Int) -> ClassRole? {
        roles[classIndex]?.first { $0.applies(to: subject) }
    }

    /// What the role permits, within the session's partition.
    private func filter(
        for subject: Subject, _ role: ClassRole?, _ operation: Operation, _ classIndex: Int
    ) -> Predicate {
        guard let role else { return .constant(false) }
        return within(subject.partition, classIndex, role.expression(for: operation).predicate(for: subject))
    }

    // MARK: Sessions

    /// What the subject may do, for use by a session.
    public func access(of subject: Subject) -> SubjectAccess { SubjectAccess(self, subject) }

    /// What the subject may read of each class: see ``SubjectAccess/readable(_:)``.
    public func readable(_ subject: Subject) -> @Sendable (_ classIndex: Int) -> Predicate {
        let access = access(of: subject)
        return { access.readable($0) }
    }

    /// What the subject may read of a class, given by its position, if it has a role there. The class must not be an
    /// element class.
    func readable(_ subject: Subject, _ classIndex: Int) -> Predicate {
        guard schema.classes.indices.contains(classIndex) else { return .constant(false) }
        let root = schema.rootClassIndex(of: classIndex)
        let role = role(of: subject, root)
        if role?.hiddenLists.contains(classIndex) == true { return .constant(false) }
        return filter(for: subject, role, .read, root)
    }

    /// The columns that the subject may not read even if they may read the object, by class position. Classes without
    /// such columns are left out.
    public func hiddenColumns(_ subject: Subject) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for index in roles.keys {
            if let columns = role(of: subject, index)?.hiddenColumns, !columns.isEmpty { result[index] = columns }
        }
        return result
    }

    /// Decides about the writes in a subject's uploads: see ``SubjectAccess/permit(_:)``.
    public func permit(_ subject: Subject) -> @Sendable (WriteRequest) -> WriteDenial? {
        let access = access(of: subject)
        return { access.permit($0) }
    }

    /// Why the subject may not do something to any object of a class: see ``SubjectAccess/denial(_:_:)``.
    public func denial(_ subject: Subject) -> @Sendable (WriteRequest.Operation, _ classIndex: Int) -> WriteDenial? {
        let access = access(of: subject)
        return { access.denial($0, $1) }
    }

    /// Decides like ``authorize(_:_:_:)``, but with a given role and filter.
    func decide(
        _ subject: Subject, _ operation: Operation, _ resource: Resource, _ role: ClassRole?, _ filter: Predicate,
        written: Set<Int>
    ) -> Decision {
        let classIndex = schema.rootClassIndex(of: resource.classIndex)
        return decide(subject, operation, resource, classIndex, role, filter, written: written) {
            filter.matches($0, of: schema[classIndex])
        }
    }

    /// The role that decides about a class, given by its position, and what it permits by operation. The class must not
    /// be an element class.
    func filters(for subject: Subject, _ classIndex: Int) -> (role: ClassRole, filters: [Operation: Predicate])? {
        guard let role = role(of: subject, classIndex) else { return nil }
        var filters: [Operation: Predicate] = [:]
        for operation in [Operation.create, .update, .delete, .restore] {
            filters[operation] = filter(for: subject, role, operation, classIndex)
        }
        return (role, filters)
    }

    /// Changes whenever the rules, or what they see of the subject, may have changed. A client with another fingerprint
    /// is sent the difference.
    public func fingerprint(of subject: Subject) -> UInt64 {
        var hash = StableHash()
        hash.add(Int64(bitPattern: bookFingerprint))
        hash.add(subject.userID.map(Value.objectId) ?? .null)
        if let partition = subject.partition { addPartition(partition, to: &hash) }
        for reference in references { hash.add(userValue: subject.value(of: reference) ?? .null) }
        return hash.value
    }

    // MARK: Messages

    private func denial(
        _ subject: Subject, _ operation: Operation, _ classIndex: Int, _ role: ClassRole?,
        changing property: String? = nil
    ) -> Decision.Denial {
        let name = schema[classIndex].name
        if let partition = subject.partition, let problem = partitionProblem(partition, classIndex) {
            return .init(
                wording: Wording("Not permitted to \(operation) this \(name): \(problem)"), needsLogin: false)
        }
        let reason =
            if let role {
                Wording("no rule of the role '\(name: role.name)' allows it")
            } else if roles[classIndex] == nil {
                Wording("\(name) has no rules")
            } else {
                Wording("none of its roles applies to this user")
            }
        return .init(
            wording: property.map { Wording("Not permitted to change the \($0) of this \(name): \(reason).") }
                ?? Wording("Not permitted to \(operation) this \(name): \(reason)."), needsLogin: subject.isAnonymous)
    }
}
