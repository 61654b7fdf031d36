import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import TomboloHTTP

@Suite struct ResponseFramingTests {
    private static func head(
        _ response: HTTPResponse, _ framing: ResponseFraming, connection: String? = nil
    ) -> String {
        var buffer = ByteBuffer()
        buffer.writeHead(of: response, framing, connection: connection)
        return String(buffer: buffer)
    }

    @Test("A response's status, headers, request and version determine how its body ends")
    func framing() {
        let plain = HTTPResponse(status: .ok)
        let long = HTTPResponse(status: .ok, headerFields: [.contentLength: "12"])
        #expect(ResponseFraming(of: plain, byteCount: 3, to: .get, .http1_1) == .length(3))
        #expect(ResponseFraming(of: long, byteCount: nil, to: .get, .http1_1) == .length(12))
        #expect(ResponseFraming(of: plain, byteCount: nil, to: .get, .http1_1) == .chunked)
        #expect(ResponseFraming(of: plain, byteCount: nil, to: .get, .http1_0) == .untilClose)
        #expect(ResponseFraming(of: long, byteCount: 0, to: .head, .http1_1) == .none)
        for status in [HTTPResponse.Status.noContent, .notModified, .continue] {
            #expect(ResponseFraming(of: HTTPResponse(status: status), byteCount: 0, to: .get, .http1_1) == .none)
        }
    }

    @Test("Heads have exactly one kind of framing")
    func heads() {
        var response = HTTPResponse(
            status: .ok, headerFields: [.contentType: "text/plain", .transferEncoding: "gzip", .connection: "upgrade"])
        #expect(
            Self.head(response, .length(5))
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n")
        #expect(
            Self.head(response, .chunked)
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(
            Self.head(response, .untilClose, connection: "close")
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
        response.headerFields = [.contentLength: "7"]
        #expect(Self.head(response, .length(7)) == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
        #expect(Self.head(response, .none) == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "Answers to HEAD")
        response.status = .noContent
        #expect(Self.head(response, .none) == "HTTP/1.1 204 No Content\r\n\r\n")
    }

    @Test("A value with a line break can't add a header")
    func splitting() {
        let response = HTTPResponse(status: .ok, headerFields: [.location: "/a\r\nSet-Cookie: x=y"])
        #expect(!Self.head(response, .none).contains("\r\nSet-Cookie"))
    }

    @Test("The Date header has RFC 9110's format")
    func dates() {
        let dates = DateHeader()
        #expect(dates.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(dates.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(dates.text(at: 1_709_164_800) == "Thu, 29 Feb 2024 00:00:00 GMT")
        let now = Int(Date().timeIntervalSince1970)
        #expect((now...now + 600).contains { dates.text(at: $0) == dates.current } || dates.current.hasSuffix(" GMT"))
    }
}
