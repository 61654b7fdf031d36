/// A failure to do what a test needs, in one of its processes.
struct EndToEndFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
