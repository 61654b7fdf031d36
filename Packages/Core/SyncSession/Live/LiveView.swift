internal import TomboloModel
public import TomboloSyncProtocol

/// All that decides which bytes a device is sent of a tick: devices with equal views share them.
public struct LiveView: Hashable, Sendable {
    /// What the device has: its subscriptions, narrowed by the rules.
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
