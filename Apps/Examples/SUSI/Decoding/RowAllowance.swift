/// How much of the data that a document's actions share may be stored. Every action may show the same rows again, so
/// a small document could otherwise request any number of copies.
struct RowAllowance {
    static let maximumCellCount = 500_000
    static let maximumByteCount = 128 << 20
    static let maximumColumnCount = 256

    static var explanation: String {
        "the rows of a document have at most \(maximumCellCount) cells and \(maximumByteCount) bytes"
    }

    private var cellCount = 0
    private var byteCount = 0

    /// - Returns: whether there was still room for the row.
    mutating func take(_ row: [String]) -> Bool {
        // A row without cells also counts.
        cellCount += max(1, row.count)
        byteCount += row.reduce(0) { $0 + $1.utf8.count }
        return cellCount <= Self.maximumCellCount && byteCount <= Self.maximumByteCount
    }
}
