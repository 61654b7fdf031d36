import HTTPTypes
import NIOCore
import NIOHTTP1

/// How a client recognises the end of a response's body (RFC 9112, section 6.3).
enum ResponseFraming: Hashable, Sendable {
    /// There is no body.
    case none
    /// By the header `Content-Length`, in bytes.
    case length(Int)
    case chunked
    /// By the end of the connection: clients of HTTP/1.0 know nothing else for streams.
    case untilClose

    /// - Parameters:
    ///   - byteCount: the body's length; nil if only the header `Content-Length` may have it.
    ///   - method: the request's method.
    ///   - version: the request's version of HTTP.
    init(of response: HTTPResponse, byteCount: Int?, to method: HTTPRequest.Method, _ version: HTTPVersion) {
        switch response.status {
        case _ where method == .head || response.status.kind == .informational: self = .none
        case .noContent, .notModified: self = .none
        default:
            if let length = byteCount ?? response.headerFields[.contentLength].flatMap(Int.init) {
                self = .length(length)
            } else {
                self = version == .http1_0 ? .untilClose : .chunked
            }
        }
    }
}

extension ByteBuffer {
    /// Writes the head of a response.
    /// - Parameter connection: the value of the header `Connection`; nil for none.
    mutating func writeHead(of response: HTTPResponse, _ framing: ResponseFraming, connection: String?) {
        writeStaticString("HTTP/1.1 ")
        writeString(String(response.status.code))
        writeStaticString(" ")
        writeString(response.status.reasonPhrase)
        writeStaticString("\r\n")
        for field in response.headerFields {
            switch field.name {
            case .transferEncoding, .connection: continue
            // Answers to HEAD say what GET would have, and 304 what 200 would have.
            case .contentLength where framing != .none || response.status == .noContent: continue
            default: writeField(field.name.rawName, field.value)
            }
        }
        switch framing {
        case .length(let count): writeField("Content-Length", String(count))
        case .chunked: writeStaticString("Transfer-Encoding: chunked\r\n")
        case .none, .untilClose: break
        }
        if let connection { writeField("Connection", connection) }
        writeStaticString("\r\n")
    }

    /// Writes the end of a chunked body.
    mutating func writeLastChunk(_ trailers: HTTPFields?) {
        writeStaticString("0\r\n")
        for field in trailers ?? [:] { writeField(field.name.rawName, field.value) }
        writeStaticString("\r\n")
    }

    /// `HTTPField` admits no line break in a name or a value.
    private mutating func writeField(_ name: String, _ value: String) {
        writeString(name)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
