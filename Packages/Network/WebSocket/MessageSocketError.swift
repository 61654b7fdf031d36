internal import NIOWebSocket

/// Why a connection ended before its time.
public enum MessageSocketError: Error, Sendable, CustomStringConvertible {
    /// The other side sent nothing for so long.
    case silent(Duration)
    /// The other side sent what RFC 6455 forbids or this end does not take, and was told so with a close code.
    case violation(code: Int, reason: String)
    /// The server answered the upgrade with something else.
    case refusedUpgrade(String)
    /// The server did not answer the upgrade.
    case noUpgrade(within: Duration)

    init(_ violation: FrameViolation) {
        self = .violation(code: Int(UInt16(webSocketErrorCode: violation.code)), reason: violation.reason)
    }

    public var description: String {
        switch self {
        case .silent(let time): "The other side sent nothing for \(time); the connection counts as dead."
        case .violation(let code, let reason):
            "The other side sent \(reason). The connection was closed with code \(code)."
        case .refusedUpgrade(let reason): "The server did not open a WebSocket: \(reason)"
        case .noUpgrade(let time): "The server did not open a WebSocket within \(time)."
        }
    }
}
