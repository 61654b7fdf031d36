public import TomboloModel

/// The result of an import.
public struct OpenEventSummary: Hashable, Sendable {
    /// What happened to one class's rows.
    public struct Line: Hashable, Sendable {
        public let className: String
        public let file: String
        /// Records in the file.
        public let records: Int
        /// Records that were set aside; for a list's elements, links that were left out.
        public let setAside: Int
        /// The number of rows made from the other records.
        public let rows: Int
        public let inserted: Int
        public let updated: Int
        public let unchanged: Int
    }

    public let eventID: ObjectId
    public let eventName: String
    /// In the order in which they were written.
    public let lines: [Line]
    public let notes: [OpenEventNote]
    /// What wasn't imported, and why.
    public let setAside: [OpenEventProblem]

    public subscript(className: String) -> Line? { lines.first { $0.className == className } }
}
