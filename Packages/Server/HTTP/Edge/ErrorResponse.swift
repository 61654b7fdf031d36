import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A failure as the client sees it: JSON, or a small page if a browser asked for one.
struct ErrorResponse {
    let failure: RequestFailure
    let request: Request
    let requestID: String
    /// Nil for the edge's own format.
    var format: FailureFormat?

    /// The body of every error: `{"code": …, "message": …, "hint": …}`. A conflict also has `"properties"`, some errors
    /// have `"details"`, and those that RealmSwift has a name for have `"error"`.
    struct Body: Encodable {
        var code: String
        var message: String
        var hint: String?
        var properties: [String]?
        var details: [String: JSON]?
        var error: String?
    }

    /// How long a client should wait before it tries again.
    private static let retryAfterSeconds = 1

    var response: Response {
        var headers: HTTPFields = [:]
        switch failure.code.status {
        // RFC 6750, section 3: the header names the expected scheme.
        case .unauthorized: headers[.wwwAuthenticate] = #"Bearer realm="tombolo""#
        case _ where failure.code.canRetry:
            headers[.retryAfter] = String(failure.retryAfterSeconds ?? Self.retryAfterSeconds)
        default: break
        }
        if let decision = failure.decision { headers[.decision] = decision }
        let text: String
        if let format {
            headers[.contentType] = format.contentType
            return Response(
                status: failure.code.status, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: format.write(failure, requestID).bytes)))
        }
        if wantsPage {
            headers[.contentType] = "text/html; charset=utf-8"
            headers[.contentSecurityPolicy] = HTMLPage.contentSecurityPolicy
            text = page
        } else {
            headers[.contentType] = "application/json; charset=utf-8"
            text = json
        }
        return Response(
            status: failure.code.status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private var wantsPage: Bool { request.wantsPage }

    private var json: String {
        let body = Body(
            code: failure.code.rawValue, message: failure.message, hint: failure.hint,
            properties: failure.properties.isEmpty ? nil : failure.properties,
            details: failure.details.isEmpty ? nil : failure.details,
            error: (failure.appError ?? (failure.code == .badRequest ? .badRequest : nil))?.rawValue)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(body) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    private var page: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>\(failure.code.status.code)</title></head>
        <body><h1>\(HTMLPage.escape(failure.message))</h1><p>\(HTMLPage.escape(failure.hint ?? ""))</p></body></html>
        """
    }
}
