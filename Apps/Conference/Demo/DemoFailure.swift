/// Something that the demo claims turned out to be false, or a tool that it needs failed.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
