/// Why bytes aren't JSON, and where.
struct JSONError: Error, Equatable, CustomStringConvertible {
    let message: String
    /// Counted from 0 at the first byte of the document.
    let offset: Int

    var description: String { "invalid JSON at byte \(offset): \(message)" }
}
