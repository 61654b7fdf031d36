internal import TomboloModel
public import TomboloSyncProtocol

/// Everything that determines the bytes that a device is sent for a tick. Devices with equal views share these bytes.
public struct LiveView: Hashable, Sendable {
    /// What the device sees: its subscriptions, narrowed by the rules.
    public let visibility: Visibility
    /// Column positions to send, by class, the primary key first.
    public let columns: [Int: [Int]]
    public let mask: ColumnMask
    public let names: DeviceNames

    public init(visibility: Visibility, columns: [Int: [Int]], mask: ColumnMask, names: DeviceNames) {
        self.visibility = visibility
        self.columns = columns
        self.mask = mask
        self.names = names
    }
}
