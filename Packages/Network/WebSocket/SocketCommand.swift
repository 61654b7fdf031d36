internal import NIOWebSocket

/// What ``MessageSocketHandler`` is told beside frames, as outbound events.
enum SocketCommand {
    /// When the channel is closed, the other side hears this code.
    case closeWith(WebSocketErrorCode)
    /// Close the network at once: the other side does not listen.
    case drop
}
