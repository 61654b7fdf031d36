import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloRules

/// Who is asking, by the cookie of the request, and the form that was sent.
struct PanelVisit: Sendable {
    let session: PanelSession
    let form: PanelForm
    /// Whom the session looks at the panel as; nil for its own user.
    let viewing: PanelViewing?
    private let sessionToken: SessionToken

    init(token: PanelToken, session: PanelSession, form: PanelForm, viewing: PanelViewing?) {
        sessionToken = SessionToken(token)
        self.session = session
        self.form = form
        self.viewing = viewing
    }

    /// Whose permissions count: decisions are made about nobody else.
    var subject: Subject { viewing?.subject ?? session.subject }

    /// What the browser's cookie holds after the answer.
    var token: PanelToken { sessionToken.current }

    /// Has the answer give the browser another cookie. The one that it had counts for nothing any more.
    func renew(_ token: PanelToken) { sessionToken.renew(token) }

    /// Sends the cookie, if it's another one than the browser has.
    func setCookie(in response: inout Response, _ context: EdgeContext) {
        guard let token = sessionToken.renewed else { return }
        response.headers[values: .setCookie].append(
            PanelCookie.session.header(token.text, isSecure: context.isSecure))
    }
}
