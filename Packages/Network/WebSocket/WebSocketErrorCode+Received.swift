internal import NIOWebSocket

extension WebSocketErrorCode {
    /// Whether an endpoint may send the code (RFC 6455 §7.4 and IANA's registry of close codes). Other codes are
    /// reserved or mean that a connection ended without a close frame.
    var mayBeSent: Bool {
        switch UInt16(webSocketErrorCode: self) {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
