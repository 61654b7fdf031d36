/// How often each ``CoveragePoint`` was met.
public struct Coverage: Sendable {
    private var counts = [Int](repeating: 0, count: CoveragePoint.allCases.count)
    private static let index = Dictionary(
        uniqueKeysWithValues: CoveragePoint.allCases.enumerated().map { ($1, $0) })

    public init() {}

    mutating func hit(_ point: CoveragePoint) { counts[Self.index[point] ?? 0] += 1 }

    public mutating func add(_ other: Coverage) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    public subscript(point: CoveragePoint) -> Int { counts[Self.index[point] ?? 0] }

    /// What was never met.
    public var missing: [CoveragePoint] { CoveragePoint.allCases.filter { self[$0] == 0 } }

    /// One line for each point.
    public var table: String {
        CoveragePoint.allCases.map { point in
            let count = String(self[point])
            return String(repeating: " ", count: max(0, 9 - count.count)) + count + "  " + point.rawValue
        }.joined(separator: "\n")
    }
}
