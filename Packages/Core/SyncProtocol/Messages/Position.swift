/// The state of a device's content. The device sends it each time it connects, so that any gateway can continue.
public struct Position: Hashable, Sendable {
    /// The number of the last tick that the device applied, or 0.
    public var tick: Int64
    /// The tick's ``Tick/token``.
    public var token: Int64
    /// The version of the subscription set that the content was made with.
    public var subscriptionVersion: Int64
    /// A hash of the rules and user data that decided what the device may see.
    public var rulesFingerprint: UInt64
    /// The ``HelloClass/fingerprint(of:)`` of the device's classes when the content was sent.
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

    /// The position before the first batch.
    public static let none = Position(
        tick: 0, token: 0, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0)
}
