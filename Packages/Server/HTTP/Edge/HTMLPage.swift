import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

extension Request {
    /// Whether a browser asks for a page: it names HTML first. Programs say `*/*` or JSON.
    public var wantsPage: Bool {
        guard method == .get, let accept = headers[.accept] else { return false }
        return accept.lowercased().hasPrefix("text/html")
    }
}

/// An HTML answer. Its policy lets a browser run and load nothing that the page does not bring itself.
public struct HTMLPage: ResponseGenerator, Sendable {
    /// No scripts, no frames, no forms; styles in the page and images by HTTPS.
    public static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"

    public let html: String

    /// - Parameter html: a whole document, everything from outside escaped.
    public init(_ html: String) { self.html = html }

    public func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// `text` with the five characters escaped that have a meaning in HTML text and attributes.
    public static func escape(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
