import HTTPTypes
import HummingbirdCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension Request {
    /// - Returns: nil if the head names no valid method.
    init?(_ head: HTTPRequestHead, _ body: ConnectionState.Body, _ connection: Connection) {
        guard let request = HTTPRequest(head) else { return nil }
        switch body {
        case .whole(let bytes): self.init(head: request, body: RequestBody(buffer: bytes))
        case .streamed(let number):
            let parts = ConnectionBody(connection: connection, number: number)
            self.init(head: request, body: RequestBody(asyncSequence: parts))
        }
    }
}

extension HTTPRequest {
    fileprivate init?(_ head: HTTPRequestHead) {
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            // Proxies may send whole URLs (RFC 9112, section 3.2.2). Only these need a parser.
            try? self.init(head, secure: false, splitCookie: false)
            return
        }
        guard let method = try? HTTPRequest.Method(head.method) else { return nil }
        self.init(
            method: method, scheme: "http", authority: head.headers.first(name: "host"), path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false))
    }
}
