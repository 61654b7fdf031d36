import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP

/// A cookie of the panel. Over HTTPS, its name begins with `__Host-`, so that no other host of the domain can set it
/// (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2). It's `Lax`, because links to records in mails must work. That is
/// safe: a request that changes something is never a GET, and needs a form's token.
struct PanelCookie: Sendable {
    /// The session's token.
    static let session = PanelCookie(baseName: "tombolo_panel", maximumAge: PanelSession.lifetimeSeconds)
    /// The notice for the next page.
    static let notice = PanelCookie(baseName: "tombolo_notice", maximumAge: 60)

    /// Whom the session views the panel as.
    static let viewing = PanelCookie(baseName: "tombolo_view", maximumAge: PanelSession.lifetimeSeconds)

    /// The colours of a browser's pages, if they aren't those of its system.
    static let theme = PanelCookie(baseName: "tombolo_theme", maximumAge: 365 * 86_400)

    /// The language of a browser's pages, if it isn't the one that the browser prefers.
    static let language = PanelCookie(baseName: "tombolo_language", maximumAge: 365 * 86_400)

    /// Browsers reject a cookie whose name and value are longer together (draft-ietf-httpbis-rfc6265bis, section 5.6).
    static let maximumByteCount = 4_096

    private let baseName: String
    /// In seconds.
    private let maximumAge: Int64

    private func name(isSecure: Bool) -> String { isSecure ? "__Host-\(baseName)" : baseName }

    /// The value for the header `Set-Cookie`.
    func header(_ value: String, isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=\(value); Path=/; Max-Age=\(maximumAge); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that removes the cookie.
    func removal(isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    func value(in request: Request, _ context: EdgeContext) -> String? {
        request.cookies[name(isSecure: context.isSecure)]?.value
    }

    func token(in request: Request, _ context: EdgeContext) -> PanelToken? {
        value(in: request, context).flatMap(PanelToken.init)
    }
}
