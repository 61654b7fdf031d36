/// What kept a test's processes from doing what the test needs.
struct EndToEndFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
