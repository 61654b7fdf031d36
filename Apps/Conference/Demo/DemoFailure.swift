/// Something that the demo shows was not true, or a tool that it needs failed.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
