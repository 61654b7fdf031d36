public import TomboloChangesets

/// A message from a gateway to a device.
public enum ServerMessage: Hashable, Sendable {
    /// The session is open.
    case welcome(Welcome)
    case frame(BatchFrame)
    case end(BatchEnd)
    /// The device's history isn't the server's. The device takes a new client id, keeps its unsent changesets and
    /// starts over.
    case reset(String)
    /// The session can't continue, and the gateway closes the connection.
    case failure(SessionFailure)
}

/// Answers a hello: the session is open.
public struct Welcome: Hashable, Sendable {
    /// The version of the wire format in this session, which is the device's version.
    public var protocolVersion: Int
    /// The server's clock when the session opened.
    public var serverTime: Stamp
    /// The highest changeset number that the server has applied or refused. If the device doesn't know the outcome of
    /// all changesets up to it, it uploads the missing ones again, unchanged, before it gets its first batch.
    public var lastChangeset: Int64
    /// Whether the changelog no longer reaches back to the device's position. If so, the first batch replaces
    /// everything, which the app sees as a client reset.
    public var isExpired: Bool

    public init(
        protocolVersion: Int = ProtocolVersion.current, serverTime: Stamp, lastChangeset: Int64, isExpired: Bool = false
    ) {
        self.protocolVersion = protocolVersion
        self.serverTime = serverTime
        self.lastChangeset = lastChangeset
        self.isExpired = isExpired
    }
}

/// Why a session ended, for the app and its developer.
public struct SessionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case unsupportedVersion
        case notAuthenticated
        case badMessage
        case badSubscription
        case badSchema
        case tooLarge
        case unavailable
        case notPermitted
    }

    /// The kind of failure. Apps may act on it.
    public let code: Code
    /// What was wrong and what to do.
    public let message: String
    /// Whether connecting again later may help.
    public let isRetryable: Bool

    public init(_ code: Code, _ message: String, isRetryable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
    }

    public var description: String { message }
}
