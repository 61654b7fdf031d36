/// What the PostgreSQL store itself found wrong; errors of the database come as `PostgresError`.
public struct PostgresStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The tables do not fit the model: migrate.
        public static let schema = Code(rawValue: "schema")
        /// No sequencer makes ticks, or none whose snapshots can be read.
        public static let noSequencer = Code(rawValue: "noSequencer")
        /// Another process is the sequencer.
        public static let notElected = Code(rawValue: "notElected")
        /// The caller broke a rule of the interface.
        public static let misuse = Code(rawValue: "misuse")
        /// A table or column was renamed meanwhile; the store knows the new name.
        public static let renamed = Code(rawValue: "renamed")
        /// The tick that a difference was asked for from isn't in this history, or not any more. A device whose position was
        /// found good a moment ago has met a restored database, and learns with its next hello that it must start over.
        public static let historyLost = Code(rawValue: "historyLost")
        /// A standby failed in the middle of a read, which may begin again.
        public static let standbyLost = Code(rawValue: "standbyLost")
        /// The changelog or a row holds what it cannot hold.
        public static let corrupt = Code(rawValue: "corrupt")
    }

    public let code: Code
    /// What was wrong and what to do; holds no data of users.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static let renamedMeanwhile = PostgresStoreError(
        .renamed, "A table or column was renamed while it was used: try again.")

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { [.noSequencer, .notElected, .renamed, .historyLost, .standbyLost].contains(code) }

    /// Whether a read that was begun may simply begin again.
    public var meansReadAgain: Bool { code == .renamed || code == .standbyLost }

    public var description: String { message }
}
