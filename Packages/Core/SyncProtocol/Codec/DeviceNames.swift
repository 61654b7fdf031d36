internal import TomboloModel

/// The names that a device with an older app version uses for classes and properties that have been renamed.
public struct DeviceNames: Hashable, Sendable {
    /// By class position; only classes that the device calls by another name than the schema does.
    public var classes: [Int: String] = [:]
    /// By class position and column; only columns that the device calls by another name.
    public var columns: [Int: [Int: String]] = [:]

    public init() {}

    func name(of item: ClassSchema, at index: Int) -> String { classes[index] ?? item.name }

    func name(of column: Column, at position: Int, inClass index: Int) -> String {
        columns[index]?[position] ?? column.name
    }
}
