import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// Replaces a forgotten password by means of a mailed link, if the server sends mails and knows its own address. The
/// link never uses the request's `Host` header, which an attacker could choose.
struct ForgottenPages: PanelSection {
    static let path = "\(AdminPanel.path)/forgotten"
    private static let resetPath = "\(path)/reset"
    private static let asking = PanelTemplate(PackageResources.password_forgotten_mustache)
    private static let resetting = PanelTemplate(PackageResources.password_reset_mustache)

    /// Whether this server can replace a forgotten password.
    static func isPossible(_ core: PanelCore) -> Bool { link(core) != nil }

    /// The address that mailed links to set a password lead to; nil if no link can be mailed.
    static func link(_ core: PanelCore) -> String? {
        core.authenticator.hasMail ? core.address.map { $0.text + resetPath } : nil
    }

    func add(to panel: PanelRoutes) {
        let (core, routes) = (panel.core, panel.routes)
        let open = RouteAccess.open(because: localized("it only sends mail to the owner of an address"))
        routes.on(.get, Self.path, access: open) { _, _, _ in Self.page(core) }
        routes.on(.post, Self.path, access: open) { request, context, _ in
            try RequestOrigin.check(request, isRequired: true)
            return try await Self.send(try await PanelForm(request, context), context, core)
        }
        let mailed = RouteAccess.open(because: localized("it requires a mailed token"))
        routes.on(.get, Self.resetPath, access: mailed) { request, _, _ in
            try await Self.page(core, Token { request.uri.queryParameters[$0[...]].map { String($0) } })
        }
        routes.on(.post, Self.resetPath, access: mailed) { request, context, _ in
            try RequestOrigin.check(request, isRequired: true)
            return try await Self.reset(try await PanelForm(request, context), context, core)
        }
    }

    // MARK: Asking for a mail

    private static func send(_ form: PanelForm, _ context: EdgeContext, _ core: PanelCore) async throws -> Response {
        let email = form["email"] ?? ""
        guard let link = link(core) else { return page(core) }
        guard email.contains("@") else {
            return page(
                core, email: email, message: localized("Enter the e-mail address that you log in with."),
                status: .unprocessableContent)
        }
        do {
            try await core.authenticator.sendReset(email: email, link: link, address: context.remoteAddress)
            return page(core, sentTo: email)
        } catch let error as AuthenticationError {
            return try await respond(error) { page(core, email: email, message: $0.message, status: $0.code.status) }
        }
    }

    /// - Parameter sentTo: the address that a mail was requested for. The page doesn't reveal whether it has an
    ///   account.
    private static func page(
        _ core: PanelCore, email: String = "", sentTo: String? = nil, message: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var values: [String: Any] = [
            "action": path, "login": LoginPages.path, "email": email, "isPossible": isPossible(core),
            "minutes": Mail.tokenMinutes,
        ]
        values["sentTo"] = sentTo
        values["message"] = message
        return PanelLayout(core: core).response(
            PanelPage(localized("Forgot your password?"), content: asking.render(values), status: status))
    }

    // MARK: The link of the mail

    /// The token in the link.
    private struct Token {
        let text: String
        let id: String

        init(_ value: (String) -> String?) {
            text = value("token") ?? ""
            id = value("tokenId") ?? ""
        }
    }

    private static func page(
        _ core: PanelCore, _ token: Token, message: String? = nil, isBad: Bool = false,
        status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        var values: [String: Any] = [
            "isBad": isBad,
            "action": resetPath, "token": token.text, "tokenId": token.id, "forgotten": path,
            "minimum": AccountRegistry.minimumPasswordLength,
        ]
        values["message"] = message
        values["email"] = try await core.authenticator.resetEmail(token: token.text, tokenID: token.id)
        return PanelLayout(core: core).response(
            PanelPage(localized("Set a new password"), content: resetting.render(values), status: status))
    }

    private static func reset(_ form: PanelForm, _ context: EdgeContext, _ core: PanelCore) async throws -> Response {
        let token = Token { form[$0] }
        do {
            try await core.authenticator.reset(
                password: try NewPassword.of(form), token: token.text, tokenID: token.id,
                address: context.remoteAddress)
            let content = resetting.render(["isDone": true, "login": LoginPages.path])
            return PanelLayout(core: core).response(
                PanelPage(localized("Your password was changed"), content: content))
        } catch let failure as RequestFailure {
            return try await page(core, token, message: failure.message, status: failure.code.status)
        } catch let error as AuthenticationError {
            let isBad = error == .badMailToken
            return try await respond(error) {
                try await page(
                    core, token,
                    message: isBad ? localized("This link is invalid, has expired or was already used.") : $0.message,
                    isBad: isBad, status: $0.code.status)
            }
        }
    }

    /// - Throws: the same error, unless it's about the submitted values.
    private static func respond(
        _ error: AuthenticationError, _ page: (RequestFailure) async throws -> Response
    ) async throws -> Response {
        let failure = RequestFailure(error)
        guard failure.code.status.kind == .clientError || failure.code.canRetry else { throw error }
        var response = try await page(failure)
        if let seconds = failure.retryAfterSeconds { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}
