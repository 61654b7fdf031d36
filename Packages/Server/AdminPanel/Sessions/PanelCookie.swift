import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP

/// A cookie of the panel. By HTTPS its name begins with `__Host-`, so that no other host of the domain can set it
/// (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2). `Lax`, because links to records in mails must work: what changes
/// something is never a GET, and takes a form's token.
struct PanelCookie: Sendable {
    /// The session's token.
    static let session = PanelCookie(baseName: "tombolo_panel", maximumAge: PanelSession.lifetimeSeconds)
    /// What the next page tells.
    static let notice = PanelCookie(baseName: "tombolo_notice", maximumAge: 60)

    /// Whom the session looks at the panel as.
    static let viewing = PanelCookie(baseName: "tombolo_view", maximumAge: PanelSession.lifetimeSeconds)

    /// Which colours a browser's pages have, if not those of its system.
    static let theme = PanelCookie(baseName: "tombolo_theme", maximumAge: 365 * 86_400)

    /// The language of a browser's pages, if it isn't the one that the browser likes best.
    static let language = PanelCookie(baseName: "tombolo_language", maximumAge: 365 * 86_400)

    /// Browsers take no cookie with a longer name and value (draft-ietf-httpbis-rfc6265bis, section 5.6).
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

    /// The same, to have it forgotten.
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
