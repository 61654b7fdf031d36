internal import TomboloModel

/// A role of one class, checked against it.
struct ClassRole: Sendable {
    let name: String
    /// Where it is written: `crm.yaml:12`.
    let place: String
    /// Whether it is also for callers who aren't logged in.
    let isForAnonymous: Bool
    let applyWhen: RuleExpression
    /// Which objects the role may read; what it may write, it may read too.
    let read: RuleExpression
    let write: RuleExpression
    /// Beyond ``write``.
    let insert: RuleExpression
    let delete: RuleExpression
    let operations: [Operation: RuleExpression]
    /// The columns that the role may not read.
    let hiddenColumns: Set<Int>
    /// The element classes of the lists that the role may not read.
    let hiddenLists: Set<Int>
    /// The columns that the role may not change.
    let fixedColumns: Set<Int>

    /// Denies everything, to everybody.
    static func denial(place: String) -> ClassRole {
        ClassRole(
            name: "nobody", place: place, isForAnonymous: true, applyWhen: .constant(true), read: .constant(false),
            write: .constant(false), insert: .constant(false), delete: .constant(false), operations: [:],
            hiddenColumns: [], hiddenLists: [], fixedColumns: [])
    }

    func applies(to subject: Subject) -> Bool {
        (isForAnonymous || !subject.isAnonymous) && applyWhen.holds(for: subject)
    }

    /// What an operation asks of an object; false for one that the role doesn't permit at all.
    func expression(for operation: Operation) -> RuleExpression {
        switch operation {
        case .read: read
        case .create: .conjunction([write, insert])
        case .update: write
        case .delete: .conjunction([write, delete])
        default: operations[operation] ?? .constant(false)
        }
    }

    var expressions: [RuleExpression] { [applyWhen, read, write, insert, delete] + operations.values }

    func add(to hash: inout StableHash) {
        hash.add(name)
        hash.add(.bool(isForAnonymous))
        for expression in [applyWhen, read, write, insert, delete] { expression.add(to: &hash) }
        hash.add(Int64(operations.count))
        for operation in operations.keys.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            hash.add(operation.name)
            operations[operation]?.add(to: &hash)
        }
        for columns in [hiddenColumns, hiddenLists, fixedColumns] {
            hash.add(Int64(columns.count))
            for column in columns.sorted() { hash.add(Int64(column)) }
        }
    }
}
