import AdminService
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Lets account administrators mail an account's owner a link to set a new password. They neither see the link nor
/// choose the password. The link is the same as in ``ForgottenPages``; logins and the old password stay valid until
/// it's used.
struct PasswordLinkPages: PanelSection {
    private static func path(_ id: String) -> String { "\(AccountPages.path)/\(id)/password-link" }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        panel.action(Self.path("{id}"), access: .changingAccounts(models), demands: .recentPassword) {
            request, grant in
            try await Self.send(request, grant)
        }
    }

    /// Adds the button to an account's page, or the reason why no link can be mailed.
    static func add(_ details: AccountDetails, isDisabled: Bool, _ core: PanelCore, to content: inout AccountContent) {
        switch way(details, isDisabled: isDisabled, core) {
        case .success: content.passwordLink = path(content.id)
        case .failure(let refusal):
            content.passwordProblem = [refusal.message, refusal.shownHint].compactMap(\.self).joined(separator: " ")
        }
    }

    /// The address that the mailed link leads to, or why no link can be mailed.
    private static func way(
        _ details: AccountDetails, isDisabled: Bool, _ core: PanelCore
    ) -> Result<String, RequestFailure> {
        if isDisabled {
            return .failure(
                RequestFailure(
                    .conflict, "A disabled account can't get a password link.", hint: "Enable the account first."))
        }
        guard details.email != nil else {
            return .failure(
                RequestFailure(
                    .unprocessable, "This account has no e-mail address to mail a link to.",
                    hint: "Its owner logs in without a password."))
        }
        guard let link = ForgottenPages.link(core) else {
            return .failure(
                RequestFailure(
                    .unavailable,
                    "This server can't mail links to set a password: that requires TOMBOLO_MAIL and TOMBOLO_ADMIN_URL.",
                    hint: "Its operator can set the password with 'migration-tool user password ADDRESS'."))
        }
        return .success(link)
    }

    private static func send(_ request: PanelRequest, _ grant: AccountsGrant) async throws -> PanelAnswer {
        let authenticator = request.core.authenticator
        let details = try await AccountPages.changeable(request, grant)
        let isDisabled = try await authenticator.disabledAt(details.userID) != nil
        let link = try way(details, isDisabled: isDisabled, request.core).get()
        let email: String
        do {
            email = try await authenticator.sendPasswordLink(
                to: details.userID, link: link, address: request.context.remoteAddress)
        } catch AuthenticationError.unknownUser {
            // Somebody disabled or deleted the account in the meantime.
            throw AccountPages.unknown
        }
        request.context.logger.notice(
            "\(request.userID) had a link to set the password of the account \(details.userID) mailed to its owner.")
        return .redirect(
            to: "\(AccountPages.path)/\(details.userID)",
            notice: PanelNotice(
                localized(
                    "A mail with a link to set a password is on its way to \(email). The link is good for "
                        + "\(Mail.tokenMinutes) minutes. Until it's used, the password and all logins stay as they are."
                )))
    }
}
