/// The bounds of an import.
package enum ImportLimits {
    /// The whole file.
    package static let byteCount = 32 << 20
    /// One cell of CSV, or one object of JSON.
    static let itemByteCount = 1 << 20
    static let columnCount = 1_000
    static let columnNameByteCount = 200
    static let rowCount: Int64 = 100_000
    /// JSON's objects and lists in each other.
    static let depth = 32
    /// What is looked at to find out what separates cells.
    static let headerByteCount = 64 << 10
    /// How long an upload may take.
    package static let uploadTime = Duration.seconds(600)
    /// How long a preview or a start may take.
    package static let planTime = Duration.seconds(120)
    /// Imports of one user that are uploaded, or being uploaded, and not started.
    static let draftCount = 3
    /// Days after which a file that nobody started is forgotten.
    static let draftDays = 1
    /// Rows that are written or read at a time, and their bytes at about which they're written.
    static let chunkRowCount = 500
    static let chunkByteCount = 1 << 20
    /// Rows of an import that is all or nothing.
    static let atomicRowCount: Int64 = 500
    /// Mistakes that a preview tells.
    package static let shownProblemCount = 50
    /// Rows that an upload and a preview show.
    static let shownRowCount = 10
}
