import TomboloModel

/// A synthetic drawing, the same in every run.
struct Drawing: Sendable {
    static let key = ListingKey.bytes(1)
    let strokes: [Stroke]

    struct Point: Hashable, Sendable {
        var x: Double
        var y: Double
    }

    struct Stroke: Sendable {
        var key: [UInt8]
        var rank: String
        var color: String
        var width: Double
        var points: [Point]
    }

    init(strokeCount: Int, pointCount: Int) throws {
        var random = SplitMix(state: 11)
        let ranks = try FractionalRank.sequence(count: strokeCount, between: nil, nil)
        strokes = ranks.enumerated().map { Self.stroke($0.offset, rank: $0.element, pointCount, &random) }
    }

    /// Strokes to append later.
    func later(_ count: Int) throws -> [Stroke] {
        var random = SplitMix(state: 12)
        let ranks = try FractionalRank.sequence(count: count, between: strokes.last?.rank, nil)
        let pointCount = strokes.first?.points.count ?? 0
        return ranks.enumerated().map { Self.stroke(strokes.count + $0.offset, rank: $0.element, pointCount, &random) }
    }

    /// A random walk on a page: full-precision coordinates, each near the previous one.
    private static func stroke(_ number: Int, rank: String, _ pointCount: Int, _ random: inout SplitMix) -> Stroke {
        var point = Point(x: .random(in: 0..<1_000, using: &random), y: .random(in: 0..<1_000, using: &random))
        let points = (0..<pointCount).map { _ in
            point.x += .random(in: -3...3, using: &random)
            point.y += .random(in: -3...3, using: &random)
            return point
        }
        return Stroke(
            key: ListingKey.bytes(1_000 + number), rank: rank, color: ["#1d3557", "#e63946"][number % 2],
            width: Double(1 + number % 5), points: points)
    }

    /// The key of a point's row.
    static func pointKey(stroke: [UInt8], _ index: Int) -> [UInt8] {
        Array(stroke.suffix(8)) + withUnsafeBytes(of: UInt32(index).bigEndian) { Array($0) }
    }
}
