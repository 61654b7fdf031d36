internal import Synchronization
public import TomboloChangesets
public import TomboloModel

/// What a subject may do, for as long as a session knows of nothing else. A gateway has one for each connected device:
/// what of the rules depends on the subject alone is worked out when a class is first written, and only for that class.
public final class SubjectAccess: Sendable {
    private typealias ClassFilters = (role: ClassRole, filters: [Operation: Predicate])

    private let rules: Rules
    private let subject: Subject
    /// By the position of a class at the root; nil for one whose roles don't apply.
    private let known = Mutex<[Int: ClassFilters?]>([:])

    init(_ rules: Rules, _ subject: Subject) {
        self.rules = rules
        self.subject = subject
    }

    /// What the subject may read of a class, by its position, for a session's visibility; false where nothing is
    /// permitted. For an element class it is about the object that has the list.
    public func readable(_ classIndex: Int) -> Predicate { rules.readable(subject, classIndex) }

    /// Why a write is not permitted, or nil. A request without rows is denied.
    public func permit(_ request: WriteRequest) -> WriteDenial? {
        decide(
            request.operation, .object(classIndex: request.classIndex, old: request.old, new: request.new),
            request.written)
    }

    /// Why the subject may not do something to any object of a class, by position; nil where a rule permits it for some.
    /// For an element class it is about the object that has the list.
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
        let classFilters = filters(of: rules.schema.rootClassIndex(of: resource.classIndex))
        let decision = rules.decide(
            subject, operation, resource, classFilters?.role, classFilters?.filters[operation] ?? .constant(false),
            written: written)
        guard case .denied(let denial) = decision else { return nil }
        return WriteDenial(denial.reason, role: classFilters?.role.name)
    }

    private func filters(of classIndex: Int) -> ClassFilters? {
        if let found = known.withLock({ $0[classIndex] }) { return found }
        let filters = rules.filters(for: subject, classIndex)
        known.withLock { $0[classIndex] = .some(filters) }
        return filters
    }
}
