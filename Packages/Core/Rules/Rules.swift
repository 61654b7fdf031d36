public import TomboloChangesets
public import TomboloModel

/// Decides who may do what, for HTTP and sync alike: one table, one ``authorize(_:_:_:)``.
///
/// A subject has the rules of all its roles together. A write needs the object's row before it and after it to be
/// within what the subject may write, so that nobody moves an object into or out of their reach. A property that an update
/// changes must not be fixed by every rule that permits the update. The elements of a list are decided like the object
/// that has the list.
public struct Rules: Sendable {
    public let schema: Schema
    /// By the position of a class that is not an element class.
    private let rules: [Int: [Rule]]
    private let tableFingerprint: UInt64

    /// - Throws: ``RuleError`` with every class and property that the schema does not have.
    public init(schema: Schema, table: [Rule]) throws(RuleError) {
        var rules: [Int: [Rule]] = [:]
        var problems: [String] = []
        for rule in table {
            guard let index = schema.index(of: rule.className), schema[index].owner == nil else {
                let hint =
                    rule.className.nearest(in: schema.classes.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
                problems.append("A rule of \(rule.role) is about '\(rule.className)', which is no class\(hint)")
                continue
            }
            do throws(ValueError) {
                try rule.filter.sample.check(for: rule.className, in: schema, maximumPathLength: 1)
            } catch {
                problems.append("A rule of \(rule.role) does not fit \(rule.className): \(error.message)")
            }
            for name in rule.fixed.sorted() where schema[index].columnIndex(name) == nil {
                let hint =
                    name.nearest(in: schema[index].columns.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
                problems.append("A rule of \(rule.role) fixes \(rule.className).\(name), which doesn't exist\(hint)")
            }
            rules[index, default: []].append(rule)
        }
        guard problems.isEmpty else { throw RuleError(problems: problems) }
        self.schema = schema
        self.rules = rules
        var hash = StableHash()
        // In whatever order they are listed.
        for fingerprint in table.map(\.fingerprint).sorted() { hash.add(Int64(bitPattern: fingerprint)) }
        self.tableFingerprint = hash.value
    }

    /// Whether the subject may do this, and for which objects. Denies what no rule permits.
    public func authorize(_ subject: Subject, _ operation: Operation, _ resource: Resource) -> Decision {
        guard schema.classes.indices.contains(resource.classIndex) else {
            return .denied(.init(reason: "There is no such class.", needsLogin: false))
        }
        let classIndex = schema.rootClassIndex(of: resource.classIndex)
        let filter = filter(for: subject, operation, classIndex)
        guard filter != .constant(false) else { return .denied(denial(subject, operation, classIndex)) }
        guard case .object(_, let old, let new) = resource else { return .allowed(filter) }
        let rows: [Row?] =
            switch operation {
            case .create: [new]
            case .update: [old, new]
            default: [old]
            }
        let isPermitted = rows.allSatisfy { row in
            guard let row, row.values.count == schema[classIndex].columns.count else { return false }
            return filter.matches(row, of: schema[classIndex])
        }
        guard isPermitted else { return .denied(denial(subject, operation, classIndex)) }
        if operation == .update, let old, let new, let name = fixedProperty(subject, classIndex, old, new) {
            return .denied(denial(subject, operation, classIndex, changing: name))
        }
        return .allowed(filter)
    }

    /// The first property that the update changes although no rule lets the subject do so.
    private func fixedProperty(_ subject: Subject, _ classIndex: Int, _ old: Row, _ new: Row) -> String? {
        let item = schema[classIndex]
        let fixed = (rules[classIndex] ?? []).reduce(into: Set<String>()) { $0.formUnion($1.fixed) }
        return fixed.sorted().first { name in
            guard let column = item.columnIndex(name), old[column] != new[column] else { return false }
            let filter = filter(for: subject, .update, classIndex, changing: name)
            return !filter.matches(old, of: item) || !filter.matches(new, of: item)
        }
    }

    /// What the subject may read of each class, by its position, for a session's visibility; false where nothing is
    /// permitted. For an element class it is about the object that has the list.
    public func readable(_ subject: Subject) -> @Sendable (_ classIndex: Int) -> Predicate {
        let filters = schema.classes.indices.map {
            filter(for: subject, .read, schema.rootClassIndex(of: $0))
        }
        return { filters.indices.contains($0) ? filters[$0] : .constant(false) }
    }

    /// Judges the writes of a subject's uploads: why one is not permitted, or nil. A request without rows is denied.
    public func permit(_ subject: Subject) -> @Sendable (WriteRequest) -> String? {
        { request in
            let operation = Self.operation(request.operation)
            let resource = Resource.object(classIndex: request.classIndex, old: request.old, new: request.new)
            guard case .denied(let denial) = authorize(subject, operation, resource) else { return nil }
            return denial.reason
        }
    }

    /// Why the subject may not do something to any object of a class, by position; nil where a rule permits it for some.
    /// For an element class it is about the object that has the list.
    public func denial(_ subject: Subject) -> @Sendable (WriteRequest.Operation, _ classIndex: Int) -> String? {
        { operation, classIndex in
            guard
                case .denied(let denial) = authorize(
                    subject, Self.operation(operation), .objects(classIndex: classIndex))
            else { return nil }
            return denial.reason
        }
    }

    private static func operation(_ operation: WriteRequest.Operation) -> Operation {
        switch operation {
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }

    /// Changes when the rules, or what the subject may do by them, may have changed: a client that stands on another
    /// fingerprint gets the difference.
    public func fingerprint(of subject: Subject) -> UInt64 {
        var hash = StableHash()
        hash.add(Int64(bitPattern: tableFingerprint))
        hash.add(subject.userID.map(Value.objectId) ?? .null)
        let grants = subject.grants.map { grant in
            var hash = StableHash()
            hash.add(grant.role.name)
            hash.add(grant.scope.map(Value.objectId) ?? .null)
            return hash.value
        }
        for grant in grants.sorted() { hash.add(Int64(bitPattern: grant)) }
        return hash.value
    }

    /// - Parameter property: leaves out the rules that fix it.
    private func filter(
        for subject: Subject, _ operation: Operation, _ classIndex: Int, changing property: String? = nil
    ) -> Predicate {
        let permitted = (rules[classIndex] ?? []).filter { rule in
            rule.operations.contains(operation) && (rule.filter.isScoped || subject.holds(rule.role, in: nil))
                && !(property.map(rule.fixed.contains) ?? false)
        }
        return .any(permitted.map { $0.filter.predicate(for: subject, as: $0.role) })
    }

    private func denial(
        _ subject: Subject, _ operation: Operation, _ classIndex: Int, changing property: String? = nil
    ) -> Decision.Denial {
        let name = schema[classIndex].name
        let roles = (rules[classIndex] ?? []).filter { rule in
            rule.operations.contains(operation) && !(property.map(rule.fixed.contains) ?? false)
        }.map(\.role.name)
        let known = roles.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let takes = known.isEmpty ? "no role may" : "it takes the role \(known.joined(separator: " or ")) there"
        return .init(
            reason: property.map { "Not permitted to change the \($0) of this \(name): \(takes)." }
                ?? "Not permitted to \(operation) this \(name): \(takes).", needsLogin: subject.isAnonymous)
    }
}
