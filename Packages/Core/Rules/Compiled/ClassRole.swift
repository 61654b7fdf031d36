internal import TomboloModel

/// A role of one class, after its expressions were checked against that class.
struct ClassRole: Sendable {
    /// A permission that a user needs to create an object that satisfies the condition, or to change an object so that
    /// it does.
    struct Requirement: Sendable {
        let name: String
        /// Which users have the permission.
        let permission: RuleExpression
        let condition: RuleExpression
    }

    let name: String
    /// File and line of the role, such as `crm.yaml:12`.
    let place: String
    /// Whether the role also applies to callers who aren't logged in.
    let isForAnonymous: Bool
    let applyWhen: RuleExpression
    /// Which objects the role may read. They include those that it may write.
    let read: RuleExpression
    let write: RuleExpression
    /// What an object must satisfy to be created, in addition to ``write``.
    let insert: RuleExpression
    let delete: RuleExpression
    /// Objects that the role may create even if neither ``write`` nor the matrix permits it.
    let create: RuleExpression
    let requirements: [Requirement]
    let operations: [Operation: RuleExpression]
    /// What the matrix permits in addition to all of this. Empty for a class without a matrix.
    let matrix: [Operation: RuleExpression]
    /// The column with the key of the object that the matrix's roles are granted in, or nil without a matrix.
    let scopeColumn: Int?
    /// What an object must satisfy before it moves from one scope to another. If only the matrix permits the update,
    /// the box for deleting must be ticked too.
    let departure: RuleExpression
    /// What an object must satisfy after the move. If only the matrix permits the update, the box for creating must be
    /// ticked too.
    let arrival: RuleExpression
    /// What an object must satisfy for each operation.
    private let expressionByOperation: [Operation: RuleExpression]
    /// The columns that the role may not read.
    let hiddenColumns: Set<Int>
    /// The element classes of the lists that the role may not read.
    let hiddenLists: Set<Int>
    /// The columns that the role may not change.
    let fixedColumns: Set<Int>

    init(
        name: String, place: String, isForAnonymous: Bool, applyWhen: RuleExpression, read: RuleExpression,
        write: RuleExpression, insert: RuleExpression, delete: RuleExpression,
        create: RuleExpression = .constant(false), requirements: [Requirement] = [],
        operations: [Operation: RuleExpression] = [:], matrix: [Operation: RuleExpression] = [:],
        scopeColumn: Int? = nil, hiddenColumns: Set<Int> = [], hiddenLists: Set<Int> = [], fixedColumns: Set<Int> = []
    ) {
        self.name = name
        self.place = place
        self.isForAnonymous = isForAnonymous
        self.applyWhen = applyWhen
        self.read = read
        self.write = write
        self.insert = insert
        self.delete = delete
        self.create = create
        self.requirements = requirements
        self.operations = operations
        self.matrix = matrix
        self.scopeColumn = scopeColumn
        func moving(_ operation: Operation) -> RuleExpression {
            guard let update = matrix[.update], let other = matrix[operation] else { return write }
            return .disjunction([write, .conjunction([update, other])])
        }
        departure = moving(.delete)
        arrival = moving(.create)
        self.hiddenColumns = hiddenColumns
        self.hiddenLists = hiddenLists
        self.fixedColumns = fixedColumns
        var expressions = operations
        expressions[.read] = read
        expressions[.create] = .disjunction([.conjunction([write, insert]), create])
        expressions[.update] = write
        expressions[.delete] = .conjunction([write, delete])
        expressionByOperation = expressions.merging(matrix) { .disjunction([$0, $1]) }
    }

    /// Denies everything to everybody.
    static func denial(place: String) -> ClassRole {
        ClassRole(
            name: "nobody", place: place, isForAnonymous: true, applyWhen: .constant(true), read: .constant(false),
            write: .constant(false), insert: .constant(false), delete: .constant(false))
    }

    func applies(to subject: Subject) -> Bool {
        (isForAnonymous || !subject.isAnonymous) && applyWhen.holds(for: subject)
    }

    /// What an object must satisfy for an operation; false for an operation that the role doesn't permit at all.
    func expression(for operation: Operation) -> RuleExpression {
        expressionByOperation[operation] ?? .constant(false)
    }

    var expressions: [RuleExpression] {
        [applyWhen, read, write, insert, delete, create] + requirements.flatMap { [$0.permission, $0.condition] }
            + operations.values + matrix.values
    }

    func add(to hash: inout StableHash) {
        hash.add(name)
        hash.add(.bool(isForAnonymous))
        for expression in [applyWhen, read, write, insert, delete] { expression.add(to: &hash) }
        hash.add(Int64(operations.count))
        for operation in operations.keys.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            hash.add(operation.name)
            operations[operation]?.add(to: &hash)
        }
        // Adds nothing without a matrix, so that fingerprints from before matrices existed stay valid.
        for operation in PermissionMatrix.operations {
            guard let expression = matrix[operation] else { continue }
            hash.add(operation.name)
            expression.add(to: &hash)
        }
        if create != .constant(false) {
            hash.add("create")
            create.add(to: &hash)
        }
        for requirement in requirements {
            hash.add(requirement.name)
            requirement.permission.add(to: &hash)
            requirement.condition.add(to: &hash)
        }
        for columns in [hiddenColumns, hiddenLists, fixedColumns] {
            hash.add(Int64(columns.count))
            for column in columns.sorted() { hash.add(Int64(column)) }
        }
    }
}
