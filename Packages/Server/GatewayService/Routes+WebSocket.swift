internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
public import TomboloHTTP

extension Routes {
    /// Answers a `GET /sync` that doesn't open a WebSocket: 426 with the supported version (RFC 6455 §4.4).
    public func addWebSocketHint() {
        on(.get, Gateway.path, access: .open(because: "says only how devices connect")) { _, _, _ in
            let text =
                #"{"code":"upgrade_required","message":"Devices connect here with a WebSocket.","hint":"#
                + #""Send Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key "#
                + #"of 16 bytes in base64. A proxy in between must pass them on."}"#
            return Response(
                status: .upgradeRequired,
                headers: [
                    .contentType: "application/json; charset=utf-8", .upgrade: "websocket", .connection: "upgrade",
                    .secWebSocketVersion: "13",
                ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
    }
}
