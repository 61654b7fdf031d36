public import TomboloModel

/// What an import did.
public struct OpenEventSummary: Hashable, Sendable {
    /// What became of one class's rows.
    public struct Line: Hashable, Sendable {
        public let className: String
        public let file: String
        /// Records in the file.
        public let records: Int
        /// Records that were set aside; for a list's elements, links that were left out.
        public let setAside: Int
        /// Rows that the others make.
        public let rows: Int
        public let inserted: Int
        public let updated: Int
        public let unchanged: Int
    }

    public let eventID: ObjectId
    public let eventName: String
    /// In the order of writing.
    public let lines: [Line]
    public let notes: [OpenEventNote]
    /// What was not imported, and why.
    public let setAside: [OpenEventProblem]

    public subscript(className: String) -> Line? { lines.first { $0.className == className } }
}
