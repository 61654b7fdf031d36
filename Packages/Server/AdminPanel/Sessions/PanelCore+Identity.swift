import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

extension PanelCore {
    /// Identifies the caller by the session's cookie, never by an access token. A request that may change something
    /// also needs the session's form token, and must not come from another site's page.
    var identity: RouteIdentity { identity(readsForms: true) }

    /// The same for forms with files. ``PanelRoutes`` reads those, and checks their token before anything else in them.
    var uploadIdentity: RouteIdentity { identity(readsForms: false) }

    private func identity(readsForms: Bool) -> RouteIdentity {
        let authenticator = authenticator
        return RouteIdentity { request, context in
            let isForm = !(request.method == .get || request.method == .head)
            if isForm { try RequestOrigin.check(request, isRequired: false) }
            guard let token = PanelCookie.session.token(in: request, context) else {
                throw RequestFailure(.unauthenticated, "Log in first.")
            }
            let session = try await authenticator.panelSession(token)
            try PanelGate.check(session, request)
            let viewing = try await PanelViewing.of(request, context, token, session, self)
            guard isForm else {
                viewing?.log(request, context, session)
                let visit = PanelVisit(token: token, session: session, form: PanelForm(), viewing: viewing)
                return RouteIdentity.Caller(subject: visit.subject, session: visit, userID: session.userID)
            }
            try viewing?.check(request)
            let form = readsForms ? try await PanelForm(request, context) : PanelForm()
            if readsForms {
                guard let own = form[PanelForm.tokenField], token.accepts(formToken: own) else {
                    throw PanelForm.foreign
                }
            }
            let visit = PanelVisit(token: token, session: session, form: form, viewing: viewing)
            return RouteIdentity.Caller(subject: visit.subject, session: visit, userID: session.userID)
        }
    }
}
