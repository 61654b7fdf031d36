/// Where a device stands. It sends this at every connect, so that any gateway can go on.
public struct Position: Hashable, Sendable {
    public var tick: Int64
    public var token: Int64
    /// The version of the subscription set that the device's content was made with.
    public var subscriptionVersion: Int64
    /// Hash of the rules and user data that decided what the device may see.
    public var rulesFingerprint: UInt64
    /// ``Schema/fingerprint`` of the device's classes when the content was made.
    public var schemaFingerprint: UInt64

    public init(
        tick: Int64, token: Int64, subscriptionVersion: Int64, rulesFingerprint: UInt64, schemaFingerprint: UInt64
    ) {
        self.tick = tick
        self.token = token
        self.subscriptionVersion = subscriptionVersion
        self.rulesFingerprint = rulesFingerprint
        self.schemaFingerprint = schemaFingerprint
    }

    /// Before the first batch.
    public static let none = Position(
        tick: 0, token: 0, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0)
}
