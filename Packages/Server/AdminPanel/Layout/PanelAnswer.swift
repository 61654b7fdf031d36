import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP

/// The answer of a page or an action.
public enum PanelAnswer: Sendable {
    case page(PanelPage)
    /// Redirects to another page, which is requested with GET.
    /// - Parameters:
    ///   - path: a path on this server.
    ///   - notice: shown on that page.
    case redirect(to: String, notice: PanelNotice? = nil)
    /// Any other response, such as a file to save.
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

    /// - Parameter token: the token of the session whose next page shows the notice.
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
            // If it doesn't fit into a cookie, the notice is still shown, but without its undo button.
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
