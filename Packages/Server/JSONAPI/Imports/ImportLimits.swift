/// The limits of an import.
package enum ImportLimits {
    /// The whole file, in bytes.
    package static let byteCount = 32 << 20
    /// One cell of CSV or one object of JSON, in bytes.
    static let itemByteCount = 1 << 20
    /// One row of CSV, in bytes.
    static let rowByteCount = 4 << 20
    static let columnCount = 1_000
    static let columnNameByteCount = 200
    static let rowCount: Int64 = 100_000
    /// How deep objects and lists of JSON may nest.
    static let depth = 32
    /// How many bytes are searched for the delimiter.
    static let headerByteCount = 64 << 10
    /// How long an upload may take.
    package static let uploadTime = Duration.seconds(600)
    /// How long a preview or a start may take.
    package static let planTime = Duration.seconds(120)
    /// The most imports of one user that are being uploaded, or are uploaded and not started.
    static let draftCount = 3
    /// How many days a file is kept without being started.
    static let draftDays = 1
    /// The most rows that are written or read at a time, and about the most bytes of them. A longer row comes alone.
    static let chunkRowCount = 500
    static let chunkByteCount = 1 << 20
    /// The most rows of an all-or-nothing import.
    static let atomicRowCount: Int64 = 500
    /// The most mistakes that a preview lists.
    package static let shownProblemCount = 50
    /// The most rows that an upload and a preview show.
    static let shownRowCount = 10
}
