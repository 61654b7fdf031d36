import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// Login, logout, re-entering the password, and the panel's asset files.
struct LoginPages: PanelSection {
    static let path = "\(AdminPanel.path)/login"
    static let logoutPath = "\(AdminPanel.path)/logout"
    static let passwordPath = "\(AdminPanel.path)/password"
    /// The field with the page to go to afterwards.
    static let nextField = "next"
    private static let template = PanelTemplate(PackageResources.login_mustache)

    /// The address of the login page, with the page to go to afterwards.
    static func address(next: String) -> String {
        next == AdminPanel.path ? path : "\(path)?\(nextField)=\(RequestParameters.encode(next))"
    }

    func add(to panel: PanelRoutes) {
        let (core, routes) = (panel.core, panel.routes)
        routes.on(.get, "/", access: .open(because: localized("it only redirects browsers to the panel"))) {
            request, _, _ in
            guard request.wantsPage else { throw RequestFailure(.notFound, "There is nothing at this address.") }
            return PanelAnswer.redirection(to: AdminPanel.path)
        }
        let assets = "\(AdminPanel.path)/assets/{name}"
        routes.leaveOutOfRequestLog(assets)
        routes.on(
            .get, assets,
            access: .open(because: localized("the panel's style and script hold no data"))
        ) { _, context, _ in
            try core.assets.response(named: context.parameters.get("name") ?? "")
        }
        let open = RouteAccess.open(because: localized("this is where sessions are created"))
        routes.on(.get, Self.path, access: open) { request, _, _ in
            let next = request.uri.queryParameters["next"].flatMap { PanelPath.checked(String($0)) }
            return Self.page(core: core, next: next ?? AdminPanel.path)
        }
        routes.on(.post, Self.path, access: open) { request, context, _ in
            try await Self.logIn(request, context, core)
        }
        panel.action(Self.logoutPath, access: .own(localized("session"))) { request, _ in
            try await request.asThemselves { try await core.authenticator.endPanel(request.visit.session) }
            var response = PanelAnswer.redirection(to: Self.path)
            response.headers[values: .setCookie].append(
                PanelCookie.session.removal(isSecure: request.context.isSecure))
            return .response(response)
        }
        panel.action(Self.passwordPath, access: .own(localized("session")), demands: .recentPassword) { request, _ in
            .redirect(to: PanelPath.checked(request.form[Self.nextField]) ?? AdminPanel.path)
        }
    }

    private static func logIn(_ request: Request, _ context: EdgeContext, _ core: PanelCore) async throws -> Response {
        // Login CSRF: another site must not log somebody in to an account other than the one they think they're using.
        try RequestOrigin.check(request, isRequired: true)
        let form = try await PanelForm(request, context)
        let next = PanelPath.checked(form[nextField]) ?? AdminPanel.path
        let email = form["email"] ?? ""
        do {
            let token = try await core.authenticator.beginPanel(
                email: email, password: form["password"] ?? "", address: context.remoteAddress,
                device: LoginDevice(name: "Admin panel", platform: request.headers[.userAgent]))
            // The browser is about to forget its previous session, which nobody could log out of then.
            if let before = PanelCookie.session.token(in: request, context),
                let session = try? await core.authenticator.panelSession(before, isUse: false)
            {
                try await core.authenticator.endPanel(session)
            }
            var response = PanelAnswer.redirection(to: next)
            response.headers[values: .setCookie].append(
                PanelCookie.session.header(token.text, isSecure: context.isSecure))
            return response
        } catch let error as AuthenticationError {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError || failure.code.canRetry else { throw error }
            var response = page(
                core: core, next: next, message: failure.message, email: email, status: failure.code.status)
            if let seconds = failure.retryAfterSeconds { response.headers[.retryAfter] = String(seconds) }
            return response
        }
    }

    /// - Parameters:
    ///   - next: the page to go to afterwards; already checked.
    ///   - message: why the page is shown, unless the user asked for it.
    static func page(
        core: PanelCore, next: String, message: String? = nil, email: String = "",
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var values: [String: Any] = ["next": next, "email": email, "action": path, "forgotten": ForgottenPages.path]
        if let message { values["message"] = message }
        return PanelLayout(core: core).response(
            PanelPage(localized("Log in"), content: template.render(values), status: status))
    }
}
