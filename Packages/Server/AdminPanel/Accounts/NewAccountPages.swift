import AdminService
import HTTPTypes
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Lets account administrators add an account for somebody else. Nobody types a password: the new user is mailed a link
/// to choose one.
struct NewAccountPages: PanelSection {
    static let path = "\(AccountPages.path)/new"
    private static let template = PanelTemplate(PackageResources.account_new_mustache)

    /// The values for the template.
    private struct Content: Sendable {
        struct Problem: Sendable {
            let message: String
            let hint: String?
            /// The page of the account that already has the address.
            let account: String?
        }

        let action = NewAccountPages.path
        let back = AccountPages.path
        let email: String
        let name: String
        let isMailed: Bool
        let days = Mail.welcomeDays
        let maximumEmailCount = AccountRegistry.maximumEmailByteCount
        let maximumNameCount = AccountRegistry.maximumDisplayNameByteCount
        let problem: Problem?
    }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let changing = RouteAccess.changingAccounts(models)
        panel.page(Self.path, access: changing) { request, _ in .page(Self.page(request)) }
        panel.action(Self.path, access: changing, demands: .recentPassword) { request, _ in try await Self.add(request)
        }
    }

    private static func page(
        _ request: PanelRequest, _ failure: RequestFailure? = nil, account: String? = nil
    ) -> PanelPage {
        let content = Content(
            email: request.form["email"] ?? "", name: request.form["name"] ?? "",
            isMailed: ForgottenPages.link(request.core) != nil,
            problem: failure.map { Content.Problem(message: $0.message, hint: $0.shownHint, account: account) })
        return PanelPage(
            localized("Add an account"), crumbs: [AccountPages.crumb],
            content: template.render(request.values(content)),
            status: failure?.code.status ?? .ok)
    }

    private static func add(_ request: PanelRequest) async throws -> PanelAnswer {
        let (authenticator, link) = (request.core.authenticator, ForgottenPages.link(request.core))
        let email = request.form["email"] ?? ""
        do {
            let added = try await authenticator.addAccount(
                email: email, displayName: request.form["name"] ?? "", link: link,
                address: request.context.remoteAddress)
            request.context.logger.notice("\(request.userID) added the account \(added.userID).")
            return .redirect(
                to: "\(AccountPages.path)/\(added.userID)",
                notice: PanelNotice(notice(added, canMail: link != nil)))
        } catch AuthenticationError.emailTaken {
            // Nil if the account was deleted just now.
            let known = try? await authenticator.userID(email)
            return .page(
                page(
                    request, RequestFailure(.conflict, "This address already has an account."),
                    account: known.map { "\(AccountPages.path)/\($0)" }))
        } catch let error as AuthenticationError {
            let failure = RequestFailure(error)
            guard failure.code.status.kind == .clientError, !failure.code.canRetry else { throw error }
            return .page(page(request, failure))
        }
    }

    private static func notice(_ added: AddedAccount, canMail: Bool) -> String {
        if added.isMailed {
            return localized(
                "The account was added. A mail with a link to choose a password is on its way to \(added.email). The link "
                    + "is good for \(Mail.welcomeDays) days.")
        }
        return canMail
            ? localized(
                "The account was added, but no mail could be sent. Press 'Mail a link to set a password' in a moment.")
            : localized(
                "The account was added. It has no password yet: the server's operator can set one with 'migration-tool "
                    + "user password ADDRESS'.")
    }
}
