public import HummingbirdCore
import NIOCore

/// The bounds of one HTTP server. Every one has an effect on what a hostile or slow client can hold.
public struct HTTPLimits: Sendable {
    public static let defaultBodyBytes = 64 << 10
    public static let defaultRequestTimeout = Duration.seconds(30)
    public static let defaultIdleTimeout = Duration.seconds(60)
    public static let defaultHeaderBytes = 16 << 10
    public static let defaultHeaderCount = 100
    /// Twenty addresses' worth: fewer cannot keep everybody else out.
    public static let defaultConnections = 4_000
    public static let defaultPathBytes = 2_048
    public static let defaultConnectionsPerAddress = 200
    /// What a request that changes nothing may read from the database by one call, in bytes. More than an object may have,
    /// which a changeset of 16 MiB can fill.
    public static let readByteCount = 32 << 20
    /// What it may read for a page of a list: a text of one object may have millions of bytes.
    public static let listByteCount = 8 << 20
    public static let defaultFirstRequestTimeout = Duration.seconds(10)
    /// Eight of the largest pages of a list. An address has that much only with clients that are slow, or send many requests
    /// for large answers at a time.
    public static let defaultAnswerBytesPerAddress = 64 << 20
    public static let defaultAnswerBytes = 256 << 20
    /// As ``defaultMinimumProgressBytes`` says: about 1 KiB/s, which any network that a browser works on has.
    public static let defaultStallTimeout = Duration.seconds(75)
    public static let defaultMinimumProgressBytes = 64 << 10

    /// The longest request body, in bytes.
    public var bodyBytes = Self.defaultBodyBytes
    /// How long a request may take, from its head to its answer, the reading of its body included.
    public var requestTimeout = Self.defaultRequestTimeout
    /// How long a connection may stay silent.
    public var idleTimeout = Self.defaultIdleTimeout
    /// All header fields of a request together, in bytes.
    public var headerBytes = Self.defaultHeaderBytes
    public var headerCount = Self.defaultHeaderCount
    /// Connections at a time, or fewer if the process may have fewer files open; more wait to be accepted.
    public var connections = Self.defaultConnections
    /// Connections of one address (a /64 network of IPv6) at a time; nil for the server's default. One too many is
    /// refused.
    public var connectionsPerAddress: Int?
    /// How long a new connection may take to send the head of its first request.
    public var firstRequestTimeout = Self.defaultFirstRequestTimeout
    /// What large answers to one address (a /64 network of IPv6) may take in memory until they are read, in bytes. Beyond that
    /// the slowest are given up.
    public var answerBytesPerAddress = Self.defaultAnswerBytesPerAddress
    /// What all large answers of the server may take, in bytes.
    public var answerBytes = Self.defaultAnswerBytes
    /// How long a client for which an answer waits may take less than ``minimumProgressBytes`` of it.
    public var stallTimeout = Self.defaultStallTimeout
    public var minimumProgressBytes = Self.defaultMinimumProgressBytes
    /// Whose word is taken for the address that a request comes from, and whose connections are not counted.
    public var trustedProxies = TrustedProxies.none
    /// Whether each connection of a trusted proxy begins with a header of the PROXY protocol. Then it must, and no other
    /// connection may.
    public var expectsProxyHeader = false
    /// The longest path, in bytes.
    public var pathBytes = Self.defaultPathBytes

    public init() {}

    /// The settings of Hummingbird's HTTP/1 server for these bounds.
    public var channelConfiguration: HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                SlowReaderHandler(timeout: TimeAmount(stallTimeout), minimumByteCount: minimumProgressBytes)
            ],
            idleTimeout: TimeAmount(idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: headerBytes, maxHeaderListSize: headerBytes, maxHeaderFieldCount: headerCount))
    }
}
