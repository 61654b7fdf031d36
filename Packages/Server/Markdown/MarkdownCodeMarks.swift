/// The positions of the backtick runs that can end code in a text.
struct MarkdownCodeMarks {
    private var starts: [Int: [Int]] = [:]
    /// By length, how many of ``starts`` are before the last requested position.
    private var passed: [Int: Int] = [:]

    init(_ text: MarkdownScalars) {
        var position = 0
        while let start = text[position...].firstIndex(of: "`") {
            position = text[start...].firstIndex { $0 != "`" } ?? text.count
            starts[position - start, default: []].append(start)
        }
    }

    /// The first run of a length at or after a position. Positions must be requested in ascending order.
    mutating func next(ofLength length: Int, from position: Int) -> Int? {
        guard let all = starts[length] else { return nil }
        var index = passed[length] ?? 0
        while index < all.count, all[index] < position { index += 1 }
        passed[length] = index
        return index < all.count ? all[index] : nil
    }
}
