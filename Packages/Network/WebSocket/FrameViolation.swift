internal import NIOWebSocket

/// A frame that RFC 6455 forbids or that this end does not take, and the close code that says so.
struct FrameViolation: Error, Equatable {
    let code: WebSocketErrorCode
    /// What was wrong, as the end of a sentence.
    let reason: String

    init(_ code: WebSocketErrorCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// What NIO's decoder refuses by itself.
    init(_ error: NIOWebSocketError) {
        switch error {
        case .invalidFrameLength:
            self.init(.messageTooLarge, "a frame or an opening longer than this end accepts")
        case .fragmentedControlFrame: self.init(.protocolError, "a fragmented control frame")
        case .multiByteControlFrameLength:
            self.init(.protocolError, "a control frame with more than 125 bytes")
        }
    }
}
