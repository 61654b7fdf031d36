import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP

/// What a page or an action answers.
public enum PanelAnswer: Sendable {
    case page(PanelPage)
    /// Another page, with GET.
    /// - Parameters:
    ///   - path: of this server.
    ///   - notice: what that page tells.
    case redirect(to: String, notice: PanelNotice? = nil)
    /// Anything else, such as a file to save.
    case response(Response)

    func response(to request: PanelRequest) throws -> Response {
        switch self {
        case .page(let page): return try PanelLayout(core: request.core).response(page, to: request)
        case .redirect(let path, let notice):
            return try Self.redirection(
                to: path, notice: notice, of: request.visit.token, isSecure: request.context.isSecure)
        case .response(let response): return response
        }
    }

    static func redirection(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .referrerPolicy: "same-origin"])
    }

    /// - Parameter token: of the session whose next page tells the notice.
    static func redirection(
        to path: String, notice: PanelNotice?, of token: PanelToken, isSecure: Bool
    ) throws -> Response {
        var response = redirection(to: path)
        guard var notice else { return response }
        func cookie() throws -> String {
            let text = String(decoding: try JSONEncoder().encode(notice), as: UTF8.self)
            return PanelCookie.notice.header(token.sealed(text), isSecure: isSecure)
        }
        var header = try cookie()
        if header.utf8.count > PanelCookie.maximumByteCount {
            // What was done is told all the same.
            notice.undo = nil
            header = try cookie()
        }
        response.headers[values: .setCookie].append(header)
        return response
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    static let frameOptions = HTTPField.Name("X-Frame-Options")!
}
