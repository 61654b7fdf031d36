/// Lines of the original and what stands in their place. Lines carry their ends.
struct LineChange: Sendable {
    /// The first line, counted from 0.
    let start: Int
    var old: [String]
    var new: [String]
}
