internal import NIOWebSocket

/// Outbound events that tell ``MessageSocketHandler`` something other than frames.
enum SocketCommand {
    /// The close code to send when the channel is closed.
    case closeWith(WebSocketErrorCode)
    /// Close the network connection at once, because the other side isn't listening.
    case drop
}
