/// What an edit of documents would do to a database.
public struct DocumentPlan: Hashable, Sendable {
    public struct Step: Hashable, Sendable {
        /// What it makes: `column listing.notes`.
        public let name: String
        public let sql: String
        /// False for what PostgreSQL does outside of transactions only: an index that is built while others write.
        public let isTransactional: Bool

        public init(name: String, sql: String, isTransactional: Bool) {
            self.name = name
            self.sql = sql
            self.isTransactional = isTransactional
        }
    }

    /// How many rows a table has, or have something that is retired.
    public struct Count: Hashable, Sendable {
        /// The most rows that are looked at.
        public static let limit = 100_000

        public let name: String
        /// Of those that were looked at.
        public let rows: Int
        /// Whether the table has more than that.
        public let isPartial: Bool

        public init(name: String, rows: Int, isPartial: Bool) {
            self.name = name
            self.rows = rows
            self.isPartial = isPartial
        }
    }

    /// Of the documents that it was made with and of its steps, in whatever order: another one is another plan.
    public let fingerprint: String
    /// What is different in the documents, as sentences.
    public let changes: [String]
    /// What others may miss, as sentences; no values are lost.
    public let losses: [String]
    /// What is retired, with the rows that have it.
    public let retired: [Count]
    public let steps: [Step]
    /// Tables in use that are locked during the steps.
    public let locked: [Count]
    /// How long the steps wait for a table, in seconds.
    public let lockSeconds: Int
    /// What the new documents say without effect, and what somebody else has to do.
    public let notes: [String]
    /// The models as they'd be stored; nil if they stay.
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

    /// Whether all of it is done, or nothing. Otherwise a run that breaks off leaves the steps that were done before an
    /// index, and the documents as they were.
    public var isAtomic: Bool { steps.allSatisfy(\.isTransactional) }
}
