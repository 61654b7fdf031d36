internal import Synchronization
public import TomboloChangesets
public import TomboloModel

/// What a subject may do, as long as the rules and the subject stay the same. A gateway has one for each connected
/// device. It evaluates the conditions on the subject when a class is first written, and only for that class.
public final class SubjectAccess: Sendable {
    /// What the subject may do with one class. A reference type, since it's looked up for every object that is written.
    private final class ClassAccess: Sendable {
        let role: ClassRole
        let filters: [Operation: Predicate]
        /// The operations that are permitted on every object.
        let unconditional: Set<Operation>
        let columnCount: Int

        init(_ role: ClassRole, _ filters: [Operation: Predicate], isInPartition: Bool, columnCount: Int) {
            self.role = role
            self.filters = filters
            self.columnCount = columnCount
            let asksMore =
                isInPartition || !role.requirements.isEmpty || role.scopeColumn != nil || !role.fixedColumns.isEmpty
            unconditional = asksMore ? [] : Set(filters.filter { $0.value == .constant(true) }.keys)
        }

        /// Whether an operation is permitted on an object, without looking at its values.
        func permits(_ operation: Operation, _ old: Row?, _ new: Row?) -> Bool {
            guard unconditional.contains(operation) else { return false }
            func isWhole(_ row: Row?) -> Bool { row?.values.count == columnCount }
            return switch operation {
            case .create: isWhole(new)
            case .update: isWhole(old) && isWhole(new)
            default: isWhole(old)
            }
        }
    }

    private let rules: Rules
    private let subject: Subject
    /// By position of a class that isn't an element class; nil for a class without a role that applies.
    private let known = Mutex<[Int: ClassAccess?]>([:])

    init(_ rules: Rules, _ subject: Subject) {
        self.rules = rules
        self.subject = subject
    }

    /// What the subject may read of a class, given by its position, for a session's visibility; false if nothing is
    /// permitted. For an element class, the answer is about the object that has the list.
    public func readable(_ classIndex: Int) -> Predicate { rules.readable(subject, classIndex) }

    /// Why a write isn't permitted, or nil if it is. A request without rows is denied.
    public func permit(_ request: WriteRequest) -> WriteDenial? {
        decide(
            request.operation, .object(classIndex: request.classIndex, old: request.old, new: request.new),
            request.written)
    }

    /// Why the subject may not do something to any object of a class, given by its position; nil if a rule permits it
    /// for some. For an element class, the answer is about the object that has the list.
    public func denial(_ operation: WriteRequest.Operation, _ classIndex: Int) -> WriteDenial? {
        decide(operation, .objects(classIndex: classIndex), [])
    }

    private func decide(
        _ requested: WriteRequest.Operation, _ resource: Resource, _ written: Set<Int>
    ) -> WriteDenial? {
        guard rules.schema.classes.indices.contains(resource.classIndex) else { return "There is no such class." }
        let operation: Operation =
            switch requested {
            case .create: .create
            case .update: .update
            case .delete: .delete
            case .restore: .restore
            }
        let access = access(to: rules.schema.rootClassIndex(of: resource.classIndex))
        if case .object(_, let old, let new) = resource, access?.permits(operation, old, new) == true { return nil }
        let decision = rules.decide(
            subject, operation, resource, access?.role, access?.filters[operation] ?? .constant(false),
            written: written)
        guard case .denied(let denial) = decision else { return nil }
        return WriteDenial(denial.reason, role: access?.role.name)
    }

    private func access(to classIndex: Int) -> ClassAccess? {
        if let found = known.withLock({ $0[classIndex] }) { return found }
        let access = rules.filters(for: subject, classIndex).map { role, filters in
            ClassAccess(
                role, filters, isInPartition: subject.partition != nil,
                columnCount: rules.schema[classIndex].columns.count)
        }
        known.withLock { $0[classIndex] = .some(access) }
        return access
    }
}
