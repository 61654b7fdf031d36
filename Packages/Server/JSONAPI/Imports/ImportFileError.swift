import TomboloHTTP

/// What is wrong with a file that can't be read, and where.
struct ImportFileError: Error, Hashable, Sendable {
    /// From 1; nil if it's about the whole file.
    let line: Int64?
    /// From 1; nil if it's about the whole line.
    var column: Int?
    let message: String
    let hint: String
    /// Whether there is too much of it.
    var isTooLarge = false

    var failure: RequestFailure {
        var place = line.map { "Line \($0)" } ?? ""
        if let column { place += ", column \(column)" }
        return RequestFailure(
            isTooLarge ? .tooLarge : .unprocessable, place.isEmpty ? message : "\(place): \(message)", hint: hint)
    }
}
