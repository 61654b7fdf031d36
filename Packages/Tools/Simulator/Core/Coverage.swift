/// How often each ``CoveragePoint`` occurred.
public struct Coverage: Sendable {
    private var counts = [Int](repeating: 0, count: CoveragePoint.allCases.count)
    private static let index = Dictionary(
        uniqueKeysWithValues: CoveragePoint.allCases.enumerated().map { ($1, $0) })

    public init() {}

    mutating func hit(_ point: CoveragePoint) { counts[Self.index[point] ?? 0] += 1 }

    /// Adds another run's counts.
    public mutating func add(_ other: Coverage) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// How often a point occurred.
    public subscript(point: CoveragePoint) -> Int { counts[Self.index[point] ?? 0] }

    /// The points that never occurred.
    public var missing: [CoveragePoint] { CoveragePoint.allCases.filter { self[$0] == 0 } }

    /// The counts as text, one line per point.
    public var table: String {
        CoveragePoint.allCases.map { point in
            let count = String(self[point])
            return String(repeating: " ", count: max(0, 9 - count.count)) + count + "  " + point.rawValue
        }.joined(separator: "\n")
    }
}
