public import TomboloChangesets

/// A message from a gateway to a device.
public enum ServerMessage: Hashable, Sendable {
    /// The session is open.
    case welcome(Welcome)
    case frame(BatchFrame)
    case end(BatchEnd)
    /// The device's history isn't the server's. The device takes a new client ID, keeps its unsent changesets, and
    /// starts over.
    case reset(String)
    /// The session can't continue, and the gateway closes the connection.
    case failure(SessionFailure)
}

/// Answers a hello: the session is open.
public struct Welcome: Hashable, Sendable {
    /// The version of the wire format in this session: the device's.
    public var protocolVersion: Int
    /// The server's clock when the session was opened.
    public var serverTime: Stamp
    /// The highest number of a changeset that the server has applied or refused. If the device doesn't know the outcome
    /// of all of them, it uploads those in between again unchanged, before it gets its first batch.
    public var lastChangeset: Int64
    /// The changelog no longer reaches back to the device's position: the first batch replaces everything, which is a
    /// client reset to the app.
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

/// Why a session ended, for the app and for its developer.
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

    /// What kind of failure it is; apps may act on it.
    public let code: Code
    /// What was wrong and what to do.
    public let message: String
    /// Whether connecting again, later, can help.
    public let isRetryable: Bool

    public init(_ code: Code, _ message: String, isRetryable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
    }

    public var description: String { message }
}
