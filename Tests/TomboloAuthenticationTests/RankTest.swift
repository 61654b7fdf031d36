/// Compares two samples by their ranks (the Mann-Whitney test). An outlier, of which a busy machine produces many,
/// counts no more than any other value.
struct RankTest {
    /// How often a value of the first sample is greater than one of the second, with ties counting half. It is 0.5 if
    /// nothing tells the samples apart, and 0 or 1 if every value does.
    let superiority: Double
    /// The distance from 0.5, in standard deviations of the values that chance alone produces.
    let deviations: Double

    init(_ first: [Double], _ second: [Double]) {
        let all = first.map { ($0, true) } + second.map { ($0, false) }
        let sorted = all.sorted { $0.0 < $1.0 }
        var rankSum = 0.0
        var start = 0
        while start < sorted.count {
            var end = start
            while end < sorted.count, sorted[end].0 == sorted[start].0 { end += 1 }
            // Ranks begin at 1; equal values share the mean of their ranks.
            let rank = Double(start + 1 + end) / 2
            rankSum += rank * Double(sorted[start..<end].count { $0.1 })
            start = end
        }
        let (m, n) = (Double(first.count), Double(second.count))
        superiority = (rankSum - m * (m + 1) / 2) / (m * n)
        deviations = (superiority - 0.5) / ((m + n + 1) / (12 * m * n)).squareRoot()
    }
}
