public import TomboloChangesets
internal import TomboloModel
public import TomboloSyncProtocol

/// What a session needs to read to bring its device from one state to another.
public struct ReadRequest: Sendable {
    public let client: ClientID
    /// The tick that the device stands on; nil reads everything and replaces what the device has.
    public let from: Tick?
    /// What the device has at `from`.
    public let old: Visibility
    /// What it shall have.
    public let new: Visibility
    public let subscriptionVersion: Int64
    public let rulesFingerprint: UInt64
    public let schemaFingerprint: UInt64
    /// Column positions to send, by class, the primary key first. Nothing is sent of other classes.
    public let deviceColumns: [Int: [Int]]
    /// By class position: columns whose changes alone send nothing, since the user may not read them.
    public let hidden: [Int: Set<Int>]

    public init(
        client: ClientID, from: Tick?, old: Visibility, new: Visibility, subscriptionVersion: Int64,
        rulesFingerprint: UInt64, schemaFingerprint: UInt64, deviceColumns: [Int: [Int]],
        hidden: [Int: Set<Int>] = [:]
    ) {
        self.client = client
        self.from = from
        self.old = old
        self.new = new
        self.subscriptionVersion = subscriptionVersion
        self.rulesFingerprint = rulesFingerprint
        self.schemaFingerprint = schemaFingerprint
        self.deviceColumns = deviceColumns
        self.hidden = hidden
    }
}
