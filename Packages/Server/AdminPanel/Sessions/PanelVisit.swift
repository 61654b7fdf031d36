import TomboloAuthentication

/// Who is asking, by the cookie of the request, and the form that was sent.
struct PanelVisit: Sendable {
    let token: PanelToken
    let session: PanelSession
    let form: PanelForm
}
