import Foundation
public import HTTPTypes
public import Hummingbird
import NIOCore

/// A JSON answer with its status. Members are ordered by name, so that equal data gives equal bytes.
public struct JSONAnswer<Content: Encodable & Sendable>: ResponseGenerator, Sendable {
    public let status: HTTPResponse.Status
    public let content: Content
    /// The headers besides the content type.
    public let headers: HTTPFields

    public init(_ content: Content, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) {
        self.content = content
        self.status = status
        self.headers = headers
    }

    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        var headers = headers
        headers[.contentType] = JSONText.contentType
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(content))))
    }
}
