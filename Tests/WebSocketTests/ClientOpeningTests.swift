import Testing
import TomboloWebSocket

@Suite(.timeLimit(.minutes(15)))
struct ClientOpeningTests {
    static let answers: [String] = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            + "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        "not HTTP at all\r\n\r\n", "",
    ]

    @Test("The Host header has IPv6 addresses in brackets")
    func authorities() {
        #expect(MessageSocket.authority("::1", port: 8080) == "[::1]:8080")
        #expect(MessageSocket.authority("127.0.0.1", port: 80) == "127.0.0.1:80")
        #expect(MessageSocket.authority("gateway.example.org", port: 443) == "gateway.example.org:443")
    }

    @Test("An answer that doesn't open a WebSocket is an error", arguments: answers)
    func refused(_ answer: String) async throws {
        let (_, end) = try await RawServer.with(answer: { _ in Array(answer.utf8) }, { _ in })
        #expect(end != nil)
    }

    @Test(
        "A server that turns on an extension or subprotocol the client didn't ask for is refused",
        arguments: ["Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: chat"])
    func unasked(_ header: String) async throws {
        let (_, end) = try await RawServer.with(
            answer: { key in
                RawServer.accepting(key).dropLast(2) + Array("\(header)\r\n\r\n".utf8)
            }, { peer in _ = try await peer.next(isMasked: true) })
        guard case MessageSocketError.refusedUpgrade(let reason)? = end else {
            Issue.record("The client ended with \(String(describing: end))")
            return
        }
        #expect(reason.contains(header.split(separator: ":")[0]))
    }
}
