public import HTTPTypes
public import Hummingbird
import NIOCore

/// A JSON answer whose bytes are there already.
public struct JSONText: ResponseGenerator, Sendable {
    static let contentType = "application/json; charset=utf-8"

    public let status: HTTPResponse.Status
    public let bytes: [UInt8]

    public init(_ json: JSONBytes, status: HTTPResponse.Status = .ok) {
        bytes = json.bytes
        self.status = status
    }

    public func response(from request: Request, context: some RequestContext) -> Response {
        Response(
            status: status, headers: [.contentType: Self.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
