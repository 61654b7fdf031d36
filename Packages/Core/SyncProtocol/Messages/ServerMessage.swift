public import TomboloChangesets

/// What a gateway sends.
public enum ServerMessage: Hashable, Sendable {
    /// The session is open.
    case welcome(Welcome)
    case frame(BatchFrame)
    case end(BatchEnd)
    /// The device's history is not the server's: it takes a new client id, keeps its unsent changesets, and starts over.
    case reset(String)
    /// The session cannot go on; the gateway closes the connection.
    case failure(SessionFailure)
}

public struct Welcome: Hashable, Sendable {
    public var protocolVersion: Int
    public var serverTime: Stamp
    /// The highest changeset number that the server has applied or refused. Where it is beyond what the device has the
    /// outcome of, the device uploads those in between again, as they were, before it gets its first batch.
    public var lastChangeset: Int64

    public init(protocolVersion: Int = ProtocolVersion.current, serverTime: Stamp, lastChangeset: Int64) {
        self.protocolVersion = protocolVersion
        self.serverTime = serverTime
        self.lastChangeset = lastChangeset
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
    }

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
