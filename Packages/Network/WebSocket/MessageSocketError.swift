internal import NIOWebSocket

/// Why a connection ended early.
public enum MessageSocketError: Error, Sendable, CustomStringConvertible {
    /// The other side sent nothing for this long.
    case silent(Duration)
    /// The other side sent something that RFC 6455 forbids or this end doesn't accept, and was told so with a close
    /// code.
    case violation(code: Int, reason: String)
    /// The server answered the upgrade with something other than a WebSocket.
    case refusedUpgrade(String)
    /// The server didn't answer the upgrade in time.
    case noUpgrade(within: Duration)
    /// The server can't be trusted: its certificate isn't accepted, or it doesn't speak TLS.
    case insecure(String)

    init(_ violation: FrameViolation) {
        self = .violation(code: Int(UInt16(webSocketErrorCode: violation.code)), reason: violation.reason)
    }

    public var description: String {
        switch self {
        case .silent(let time): "The other side sent nothing for \(time), so the connection is considered dead."
        case .violation(let code, let reason):
            "The other side sent \(reason). The connection was closed with code \(code)."
        case .refusedUpgrade(let reason): "The server didn't open a WebSocket: \(reason)"
        case .noUpgrade(let time): "The server didn't open a WebSocket within \(time)."
        case .insecure(let reason): reason
        }
    }
}
