/// A command that this device can't perform.
struct DeviceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
