import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Lets account administrators mark whether an account's address has been verified. Rules see this as
/// `%%user.data.isVerified`.
struct VerificationPages: PanelSection {
    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let changing = RouteAccess.changingAccounts(models)
        for isVerified in [true, false] {
            let path = "\(AccountPages.path)/{id}/\(isVerified ? "verify" : "unverify")"
            panel.action(path, access: changing, demands: .recentPassword) { request, grant in
                let failure = RequestFailure(
                    .notFound, "There is no such account, or it has no e-mail address to verify.")
                guard let id = try? ObjectId(string: request.parameter("id")) else { throw failure }
                do {
                    let target = try await request.core.authenticator.subjectEvenIfDisabled(id)
                    if let refusal = AccountAuthority.refusal(of: grant.subject, verifying: target, grant.model) {
                        throw refusal
                    }
                    try await request.core.authenticator.setVerified(isVerified, id)
                } catch AuthenticationError.unknownUser {
                    throw failure
                }
                return .redirect(
                    to: "\(AccountPages.path)/\(id)",
                    notice: PanelNotice(
                        isVerified
                            ? localized("The address is now marked as verified.")
                            : localized("The address is now marked as not verified.")))
            }
        }
    }
}
