import TomboloAuthentication
import TomboloRules

/// Who is asking, by the cookie of the request, and the form that was sent.
struct PanelVisit: Sendable {
    let token: PanelToken
    let session: PanelSession
    let form: PanelForm
    /// Whom the session looks at the panel as; nil for its own user.
    var viewing: PanelViewing?

    /// Whose permissions count: decisions are made about nobody else.
    var subject: Subject { viewing?.subject ?? session.subject }
}
