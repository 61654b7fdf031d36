/// The limits of one HTTP server. Each of them bounds what a hostile or slow client can occupy.
public struct HTTPLimits: Sendable {
    public static let defaultBodyBytes = 64 << 10
    public static let defaultRequestTimeout = Duration.seconds(30)
    public static let defaultIdleTimeout = Duration.seconds(60)
    public static let defaultHeaderBytes = 16 << 10
    public static let defaultHeaderCount = 100
    /// Enough for twenty addresses, so that fewer can't lock everybody else out.
    public static let defaultConnections = 4_000
    public static let defaultPathBytes = 2_048
    public static let defaultConnectionsPerAddress = 200
    /// What one database call of a request that changes nothing may read, in bytes. It is more than the largest object,
    /// which a changeset of 16 MiB can fill.
    public static let readByteCount = 32 << 20
    /// What such a request may read for a page of a list, in bytes: one object's string may have millions of bytes.
    public static let listByteCount = 8 << 20
    public static let defaultFirstRequestTimeout = Duration.seconds(10)
    /// Eight of the largest pages of a list. An address only needs that much if its clients are slow, or request many
    /// large answers at a time.
    public static let defaultAnswerBytesPerAddress = 64 << 20
    public static let defaultAnswerBytes = 256 << 20
    /// Together with ``defaultMinimumProgressBytes``: about 1 KiB/s, which any network has on which a browser is
    /// usable.
    public static let defaultStallTimeout = Duration.seconds(75)
    public static let defaultMinimumProgressBytes = 64 << 10

    /// The longest request body, in bytes.
    public var bodyBytes = Self.defaultBodyBytes
    /// How long a request may take from its head to its answer, including the time to read its body.
    public var requestTimeout = Self.defaultRequestTimeout
    /// How long a connection may stay idle.
    public var idleTimeout = Self.defaultIdleTimeout
    /// All header fields of a request together, in bytes.
    public var headerBytes = Self.defaultHeaderBytes
    public var headerCount = Self.defaultHeaderCount
    /// How many connections are open at a time; fewer if the process may not have that many files open. Others wait to
    /// be accepted.
    public var connections = Self.defaultConnections
    /// How many connections one address (a /64 network in IPv6) may have at a time; nil for the server's default.
    /// Further ones are refused.
    public var connectionsPerAddress: Int?
    /// How long a new connection may take to send the head of its first request.
    public var firstRequestTimeout = Self.defaultFirstRequestTimeout
    /// How much memory large answers to one address (a /64 network in IPv6) may occupy until they are read, in bytes.
    /// Beyond that, the slowest are given up.
    public var answerBytesPerAddress = Self.defaultAnswerBytesPerAddress
    /// How much memory all large answers of the server may occupy, in bytes.
    public var answerBytes = Self.defaultAnswerBytes
    /// How long a client with a waiting answer may take to read ``minimumProgressBytes`` of it.
    public var stallTimeout = Self.defaultStallTimeout
    public var minimumProgressBytes = Self.defaultMinimumProgressBytes
    /// The proxies that are trusted to name a request's client address, and whose connections aren't counted.
    public var trustedProxies = TrustedProxies.none
    /// Whether each connection of a trusted proxy begins with a PROXY header. If so, it must, and no other connection
    /// may.
    public var expectsProxyHeader = false
    /// The longest path, in bytes.
    public var pathBytes = Self.defaultPathBytes

    public init() {}
}
