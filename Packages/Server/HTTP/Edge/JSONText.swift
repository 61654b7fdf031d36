public import HTTPTypes
public import Hummingbird
import NIOCore

/// A JSON answer that is already encoded, and may be sent many times.
public struct JSONText: ResponseGenerator, Sendable {
    static let contentType = "application/json; charset=utf-8"

    public let status: HTTPResponse.Status
    /// Shared by all responses made from it.
    private let buffer: ByteBuffer

    public init(_ json: JSONBytes, status: HTTPResponse.Status = .ok) {
        buffer = ByteBuffer(bytes: json.bytes)
        self.status = status
    }

    public var byteCount: Int { buffer.readableBytes }

    public func response(from request: Request, context: some RequestContext) -> Response {
        Response(
            status: status, headers: [.contentType: Self.contentType], body: ResponseBody(byteBuffer: buffer))
    }
}
