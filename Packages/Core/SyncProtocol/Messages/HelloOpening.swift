/// The part of a hello that a gateway reads before it has authenticated the user.
public struct HelloOpening: Hashable, Sendable {
    /// The version of the wire format that the device speaks.
    public let protocolVersion: Int
    /// The user's access token, not yet verified.
    public let accessToken: String

    public init(protocolVersion: Int, accessToken: String) {
        self.protocolVersion = protocolVersion
        self.accessToken = accessToken
    }
}
