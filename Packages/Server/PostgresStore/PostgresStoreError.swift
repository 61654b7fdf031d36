/// An error that the PostgreSQL store itself found. Errors of the database come as `PostgresError`.
public struct PostgresStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The tables don't fit the model. The database has to be migrated.
        public static let schema = Code(rawValue: "schema")
        /// No sequencer makes ticks, or readers can't import their snapshots.
        public static let noSequencer = Code(rawValue: "noSequencer")
        /// Another process is the sequencer.
        public static let notElected = Code(rawValue: "notElected")
        /// The caller broke a rule of the interface.
        public static let misuse = Code(rawValue: "misuse")
        /// A table or column was renamed meanwhile. The store now knows the new name.
        public static let renamed = Code(rawValue: "renamed")
        /// The requested difference starts at a tick that isn't in this history, or no longer is. The database was
        /// restored just after the device's position had been accepted; the device learns with its next hello that it
        /// must start over.
        public static let historyLost = Code(rawValue: "historyLost")
        /// A standby failed in the middle of a read. The read can start again.
        public static let standbyLost = Code(rawValue: "standbyLost")
        /// The changelog or a row contains something invalid.
        public static let corrupt = Code(rawValue: "corrupt")
    }

    public let code: Code
    /// What was wrong and what to do. Contains no user data.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    static let renamedMeanwhile = PostgresStoreError(
        .renamed, "A table or column was renamed while it was in use: try again.")

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { [.noSequencer, .notElected, .renamed, .historyLost, .standbyLost].contains(code) }

    /// Whether a read that had begun can simply start again.
    public var meansReadAgain: Bool { code == .renamed || code == .standbyLost }

    public var description: String { message }
}
