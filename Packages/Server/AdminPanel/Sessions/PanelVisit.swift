import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloRules

/// The caller, identified by the request's cookie, and the submitted form.
struct PanelVisit: Sendable {
    let session: PanelSession
    let form: PanelForm
    /// Whom the session views the panel as; nil for its own user.
    let viewing: PanelViewing?
    private let sessionToken: SessionToken

    init(token: PanelToken, session: PanelSession, form: PanelForm, viewing: PanelViewing?) {
        sessionToken = SessionToken(token)
        self.session = session
        self.form = form
        self.viewing = viewing
    }

    /// The subject whose permissions apply; every decision uses it.
    var subject: Subject { viewing?.subject ?? session.subject }

    /// The token in the browser's cookie after this response.
    var token: PanelToken { sessionToken.current }

    /// Gives the browser a new cookie with the response. The previous one is no longer valid.
    func renew(_ token: PanelToken) { sessionToken.renew(token) }

    /// Sends the cookie, if the browser doesn't have it yet.
    func setCookie(in response: inout Response, _ context: EdgeContext) {
        guard let token = sessionToken.renewed else { return }
        response.headers[values: .setCookie].append(
            PanelCookie.session.header(token.text, isSecure: context.isSecure))
    }
}
