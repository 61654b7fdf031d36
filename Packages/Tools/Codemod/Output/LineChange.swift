/// Lines of the original and their replacement, including line endings.
struct LineChange: Sendable {
    /// The first line, counted from 0.
    let start: Int
    var old: [String]
    var new: [String]
}
