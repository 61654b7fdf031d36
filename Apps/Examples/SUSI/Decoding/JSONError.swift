/// Why bytes are no JSON, and where.
struct JSONError: Error, Equatable, CustomStringConvertible {
    let message: String
    /// From the first byte of the document, which is 0.
    let offset: Int

    var description: String { "no JSON at byte \(offset): \(message)" }
}
