internal import NIOWebSocket

/// A frame that RFC 6455 forbids or that this end doesn't accept, with the close code for it.
struct FrameViolation: Error, Equatable {
    let code: WebSocketErrorCode
    /// What was wrong, to complete the sentence "The other side sent …".
    let reason: String

    init(_ code: WebSocketErrorCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// A violation that NIO's decoder found.
    init(_ error: NIOWebSocketError) {
        switch error {
        case .invalidFrameLength:
            self.init(.messageTooLarge, "a frame or handshake longer than this end accepts")
        case .fragmentedControlFrame: self.init(.protocolError, "a fragmented control frame")
        case .multiByteControlFrameLength:
            self.init(.protocolError, "a control frame with more than 125 bytes")
        }
    }
}
