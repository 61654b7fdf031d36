import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// Asks users who have a second factor for its code at login, after the password.
struct CodePages: PanelSection {
    static let path = "\(LoginPages.path)/code"
    private static let codeField = "code"
    private static let template = PanelTemplate(PackageResources.login_code_mustache)

    /// The address of the page, with the page to go to afterwards.
    static func address(next: String) -> String {
        next == AdminPanel.path ? path : "\(path)?\(LoginPages.nextField)=\(RequestParameters.encode(next))"
    }

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, access: .own(localized("session"))) { request, _ in
            let next = PanelPath.checked(request.query(LoginPages.nextField)) ?? AdminPanel.path
            guard !request.visit.session.isComplete else { return .redirect(to: next) }
            return .response(Self.page(request, next: next))
        }
        panel.action(Self.path, access: .own(localized("session"))) { request, _ in
            let next = PanelPath.checked(request.form[LoginPages.nextField]) ?? AdminPanel.path
            guard !request.visit.session.isComplete else { return .redirect(to: next) }
            do {
                let token = try await request.core.authenticator.giveCode(
                    request.visit.session, request.visit.token, code: request.form[Self.codeField] ?? "",
                    address: request.context.remoteAddress)
                request.visit.renew(token)
                return .redirect(to: next)
            } catch let error as AuthenticationError {
                let failure = RequestFailure(error)
                guard failure.code.status.kind == .clientError else { throw error }
                var response = Self.page(request, next: next, message: failure.message, status: failure.code.status)
                if let seconds = failure.retryAfterSeconds { response.headers[.retryAfter] = String(seconds) }
                return .response(response)
            }
        }
    }

    private static func page(
        _ request: PanelRequest, next: String, message: String? = nil, status: HTTPResponse.Status = .ok
    ) -> Response {
        var values: [String: Any] = [
            "next": next, "action": path, "logout": LoginPages.logoutPath,
            "formToken": request.visit.token.formToken, "email": request.visit.session.email,
        ]
        if let message { values["message"] = message }
        // Without the frame, because the login isn't complete yet.
        return PanelLayout(core: request.core).response(
            PanelPage(localized("Enter the code"), content: template.render(values), status: status))
    }
}
