import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// Changes the caller's own password. The form asks for the current password itself instead of demanding a recent one:
/// the page for that demand would contain the new password.
struct PasswordPages: PanelSection {
    static let path = "\(AdminPanel.path)/own-password"
    private static let template = PanelTemplate(PackageResources.password_change_mustache)

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, access: .own(localized("password"))) { request, _ in .page(try Self.page(request)) }
        panel.action(Self.path, access: .own(localized("password"))) { request, _ in try await Self.change(request) }
    }

    private static func page(_ request: PanelRequest, _ problem: RequestFailure? = nil) throws -> PanelPage {
        try request.requireOwnAccount()
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "action": path, "email": request.visit.session.email,
            "asksCode": request.visit.session.hasSecondFactor, "minimum": AccountRegistry.minimumPasswordLength,
        ]
        if let problem { values["problem"] = problem.message }
        return PanelPage(
            localized("Change your password"), content: template.render(values), status: problem?.code.status ?? .ok)
    }

    private static func change(_ request: PanelRequest) async throws -> PanelAnswer {
        do {
            let token = try await request.core.authenticator.changePassword(
                in: request.visit.session, from: request.form["current"] ?? "", to: try NewPassword.of(request.form),
                code: request.form["code"] ?? "", address: request.context.remoteAddress)
            request.visit.renew(token)
            return .redirect(
                to: AdminPanel.path,
                notice: PanelNotice(localized("Your password was changed. All your other logins were ended.")))
        } catch AuthenticationError.wrongCredentials {
            return .page(try page(request, RequestFailure(.unprocessable, "This isn't your current password.")))
        } catch let error as AuthenticationError {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError, !failure.code.canRetry else { throw error }
            return .page(try page(request, failure))
        } catch let failure as RequestFailure {
            return .page(try page(request, failure))
        }
    }
}

extension PanelRequest {
    /// Admits the caller to a page about their own account only while they don't view the panel as somebody else.
    /// - Throws: ``RequestFailure`` with status 403 while the caller views the panel as another user or role.
    func requireOwnAccount() throws(RequestFailure) {
        guard let viewing = visit.viewing else { return }
        throw RequestFailure(
            .forbidden, "This is about your own account.", hint: "Stop viewing as \(viewing.title) first.")
    }
}

/// A new password as entered in forms: twice, because users can't see what they type.
enum NewPassword {
    /// - Throws: ``RequestFailure`` with status 422 if the two entries differ.
    static func of(_ form: PanelForm) throws(RequestFailure) -> String {
        let password = form["password"] ?? ""
        guard form["again"] ?? "" == password else {
            throw RequestFailure(.unprocessable, "The two new passwords differ.")
        }
        return password
    }
}
