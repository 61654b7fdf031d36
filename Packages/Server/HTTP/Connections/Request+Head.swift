import HTTPTypes
import HummingbirdCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Why a request that NIO could decode is refused. The raw value tells the client.
enum RequestHeadError: String, Error {
    case malformed = "The request line isn't valid HTTP."
    case host = "An HTTP/1.1 request needs exactly one Host header."
}

extension Request {
    init(
        _ head: HTTPRequestHead, _ body: ConnectionState.Body, _ connection: Connection
    ) throws(RequestHeadError) {
        let request = try HTTPRequest(head)
        switch body {
        case .whole(let bytes): self.init(head: request, body: RequestBody(buffer: bytes))
        case .streamed(let number):
            let parts = ConnectionBody(connection: connection, number: number)
            self.init(head: request, body: RequestBody(asyncSequence: parts))
        }
    }
}

extension HTTPRequest {
    fileprivate init(_ head: HTTPRequestHead) throws(RequestHeadError) {
        // RFC 9112, section 3.2. With two hosts, a proxy could believe the one and this server the other.
        let hosts = head.headers["host"]
        guard hosts.count == 1 || hosts.isEmpty && head.version == .http1_0 else { throw .host }
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            // Proxies may send whole URLs (RFC 9112, section 3.2.2). Only these need a parser.
            guard let request = try? HTTPRequest(head, secure: false, splitCookie: false) else { throw .malformed }
            self = request
            return
        }
        guard let method = try? HTTPRequest.Method(head.method) else { throw .malformed }
        self.init(
            method: method, scheme: "http", authority: hosts.first, path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false))
    }
}
