internal import TomboloModel

/// What a device of an older version calls classes and properties that were renamed since.
public struct DeviceNames: Hashable, Sendable {
    /// By class position, where the device's name is another one than the schema's.
    public var classes: [Int: String] = [:]
    /// By class position and column.
    public var columns: [Int: [Int: String]] = [:]

    public init() {}

    func name(of item: ClassSchema, at index: Int) -> String { classes[index] ?? item.name }

    func name(of column: Column, at position: Int, inClass index: Int) -> String {
        columns[index]?[position] ?? column.name
    }
}
