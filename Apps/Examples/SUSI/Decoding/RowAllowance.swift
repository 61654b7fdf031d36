/// How much of the data that the actions of a document share may be stored. Every action may show the same rows again,
/// so that a small document could ask for any number of copies.
struct RowAllowance {
    static let maximumCellCount = 500_000
    static let maximumByteCount = 128 << 20
    static let maximumColumnCount = 256

    static var explanation: String {
        "the rows of a document have at most \(maximumCellCount) cells and \(maximumByteCount) bytes"
    }

    private var cellCount = 0
    private var byteCount = 0

    /// - Returns: whether there is still room for a row.
    mutating func take(_ row: [String]) -> Bool {
        // A row without cells is a row, too.
        cellCount += max(1, row.count)
        byteCount += row.reduce(0) { $0 + $1.utf8.count }
        return cellCount <= Self.maximumCellCount && byteCount <= Self.maximumByteCount
    }
}
