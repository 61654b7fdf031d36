public import TomboloChangesets
internal import TomboloModel
public import TomboloSyncProtocol

/// What a session needs to read to bring its device from one state to another.
public struct ReadRequest: Sendable {
    public let client: ClientID
    /// The device's current tick. Nil to read everything and replace what the device has.
    public let from: Tick?
    /// What the device sees at `from`.
    public let old: Visibility
    /// What the device should see.
    public let new: Visibility
    public let subscriptionVersion: Int64
    public let rulesFingerprint: UInt64
    public let schemaFingerprint: UInt64
    /// The columns to send, by class position, the primary key first. Other classes aren't sent.
    public let deviceColumns: [Int: [Int]]
    /// What the device gets in place of values that its user can't read or that it can't hold. Changes that affect only
    /// hidden columns aren't sent.
    public let mask: ColumnMask

    public init(
        client: ClientID, from: Tick?, old: Visibility, new: Visibility, subscriptionVersion: Int64,
        rulesFingerprint: UInt64, schemaFingerprint: UInt64, deviceColumns: [Int: [Int]],
        mask: ColumnMask = .none
    ) {
        self.client = client
        self.from = from
        self.old = old
        self.new = new
        self.subscriptionVersion = subscriptionVersion
        self.rulesFingerprint = rulesFingerprint
        self.schemaFingerprint = schemaFingerprint
        self.deviceColumns = deviceColumns
        self.mask = mask
    }
}
