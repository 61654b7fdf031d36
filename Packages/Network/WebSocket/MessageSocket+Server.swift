internal import Foundation
package import NIOCore
package import NIOHTTP1
package import NIOWebSocket

extension MessageSocket {
    /// The bytes of a `Sec-WebSocket-Key` (RFC 6455 §4.1).
    private static let keyByteCount = 16

    /// Takes part in a server's choice between HTTP and WebSocket, together with ``filterOpenings(of:path:for:)``.
    /// - Parameters:
    ///   - path: where clients connect; other requests stay HTTP.
    ///   - openingByteCount: the number of bytes a client may send before ``ServerSocket/liftOpeningLimit()``.
    ///   - transform: makes the server's own value from the socket and the request that opened it, on the event loop.
    ///     It starts the socket or closes it.
    package static func serverUpgrader<Result: Sendable>(
        path: String, openingByteCount: Int? = nil,
        _ transform: @escaping @Sendable (ServerSocket, HTTPRequestHead) -> Result
    ) -> NIOTypedWebSocketServerUpgrader<Result> {
        NIOTypedWebSocketServerUpgrader<Result>(
            maxFrameSize: maximumMessageByteCount, enableAutomaticErrorHandling: false,
            shouldUpgrade: { channel, head in
                channel.eventLoop.makeSucceededFuture(isOpening(head, path: path) ? HTTPHeaders() : nil)
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    transform(
                        try ServerSocket(upgraded: channel, openingByteCount: openingByteCount), head)
                }
            })
    }

    /// Turns requests that ask for an upgrade but don't open a WebSocket into ordinary ones, so that they get an HTTP
    /// answer. Call on the channel's event loop once its pipeline has NIO's upgrade handler.
    package static func filterOpenings<Result: Sendable>(
        of channel: any NIOCore.Channel, path: String, for result: Result.Type
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let handler = try pipeline.handler(type: NIOTypedHTTPServerUpgradeHandler<Result>.self)
        try pipeline.addHandler(OpeningFilter(path: path), position: .before(handler))
    }

    /// Whether the request is an opening handshake according to RFC 6455 §4.2.1.
    static func isOpening(_ head: HTTPRequestHead, path: String) -> Bool {
        let keys = head.headers["Sec-WebSocket-Key"]
        return head.uri == path && head.method == .GET && head.version == .http1_1
            && head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && head.headers["Sec-WebSocket-Version"] == ["13"]
            && keys.count == 1 && Data(base64Encoded: keys[0])?.count == keyByteCount
            // A body would be mistaken for frames.
            && !head.headers.contains(name: "Transfer-Encoding")
            && head.headers["Content-Length"].allSatisfy { $0 == "0" }
    }
}
