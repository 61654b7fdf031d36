/// Who opens a session: all that a gateway reads of a hello before it knows the device's user.
public struct HelloOpening: Hashable, Sendable {
    public let protocolVersion: Int
    public let accessToken: String

    public init(protocolVersion: Int, accessToken: String) {
        self.protocolVersion = protocolVersion
        self.accessToken = accessToken
    }
}
