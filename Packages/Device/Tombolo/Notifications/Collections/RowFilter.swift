internal import TomboloSQLiteStore

/// A fast test of whether a rowid is in a set, for passes over long arrays.
struct RowFilter {
    private var few: [Int64] = []
    private var bits: [UInt64] = []
    private var first: Int64 = 0
    private var others: RowIDSet

    private static let maximumFew = 4
    /// At most 64 KB of bits, unless the number of rows needs more.
    private static let smallRange: Int64 = 1 << 19
    private static let maximumBitsPerRow: Int64 = 64

    init(_ rows: RowIDSet) {
        others = rows
        let count = rows.count
        if count <= Self.maximumFew {
            few = Array(rows)
        } else if let lowest = rows.first, let highest = rows.last {
            let (range, overflow) = highest.subtractingReportingOverflow(lowest)
            guard !overflow, range < Self.smallRange || range / Self.maximumBitsPerRow < count else { return }
            first = lowest
            bits = Array(repeating: 0, count: Int(range / 64) + 1)
            for row in rows { bits[Int((row - lowest) / 64)] |= 1 << UInt64((row - lowest) % 64) }
        }
    }

    var isEmpty: Bool { others.isEmpty }

    @inline(__always)
    func contains(_ row: Int64) -> Bool {
        if !bits.isEmpty {
            let (slot, overflow) = row.subtractingReportingOverflow(first)
            guard !overflow, slot >= 0, slot / 64 < bits.count else { return false }
            return bits[Int(slot / 64)] & (1 << UInt64(slot % 64)) != 0
        }
        if !few.isEmpty {
            for candidate in few where candidate == row { return true }
            return false
        }
        return others.contains(row)
    }
}
