/// What an edit of documents would do to a database.
public struct DocumentPlan: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        /// What the step creates: `column listing.notes`.
        public let name: String
        public let sql: String
        /// False for what PostgreSQL can't do inside a transaction: building an index without blocking writers.
        public let isTransactional: Bool

        public init(name: String, sql: String, isTransactional: Bool) {
            self.name = name
            self.sql = sql
            self.isTransactional = isTransactional
        }
    }

    /// How many rows a table has, or how many have a value in something that is retired.
    public struct Count: Hashable, Sendable {
        /// The most rows to count.
        public static let limit = 100_000

        public let name: String
        /// The number of rows that were counted.
        public let rows: Int
        /// Whether the table has more rows than that.
        public let isPartial: Bool

        public init(name: String, rows: Int, isPartial: Bool) {
            self.name = name
            self.rows = rows
            self.isPartial = isPartial
        }
    }

    /// A fingerprint of the plan's documents and steps, whatever their order. A different fingerprint is a different
    /// plan.
    public let fingerprint: String
    /// What changes in the documents, as sentences.
    public let changes: [String]
    /// Consequences for others, as sentences. No values are lost.
    public let losses: [String]
    /// What is being retired, with the number of rows that have a value.
    public let retired: [Count]
    public let steps: [Step]
    /// Tables in use that are locked during the steps.
    public let locked: [Count]
    /// How long the steps wait for a table, in seconds.
    public let lockSeconds: Int
    /// Parts of the new documents that have no effect, and what somebody else has to do.
    public let notes: [String]
    /// The models as they would be stored, or nil if they don't change.
    public let models: String?

    public init(
        fingerprint: String, changes: [String], losses: [String], retired: [Count], steps: [Step], locked: [Count],
        lockSeconds: Int, notes: [String], models: String?
    ) {
        self.fingerprint = fingerprint
        self.changes = changes
        self.losses = losses
        self.retired = retired
        self.steps = steps
        self.locked = locked
        self.lockSeconds = lockSeconds
        self.notes = notes
        self.models = models
    }

    /// Whether the plan is applied completely or not at all. If not, an interrupted run leaves the steps that were
    /// done before an index, and the documents unchanged.
    public var isAtomic: Bool { steps.allSatisfy(\.isTransactional) }
}
