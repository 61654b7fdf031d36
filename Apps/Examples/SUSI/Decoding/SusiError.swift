/// Why a command failed: what was wrong, where, and what to do.
struct SusiError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
