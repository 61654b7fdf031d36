import TomboloHTTP

/// What is wrong with a file that can't be read, and where.
struct ImportFileError: Error, Hashable, Sendable {
    /// From 1.
    let line: Int64
    /// From 1; nil if it's about the whole line.
    var column: Int?
    let message: String
    let hint: String
    /// Whether there is too much of it.
    var isTooLarge = false

    var failure: RequestFailure {
        let place = column.map { "Line \(line), column \($0)" } ?? "Line \(line)"
        return RequestFailure(isTooLarge ? .tooLarge : .unprocessable, "\(place): \(message)", hint: hint)
    }
}
