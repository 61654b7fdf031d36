import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
public import TomboloModel
public import TomboloRules

/// A request for a page, or a submitted form, by a logged-in user.
public struct PanelRequest: Sendable {
    let request: Request
    let context: EdgeContext
    let visit: PanelVisit
    let core: PanelCore

    /// The subject whose permissions apply. While the caller views the panel as a role or a user, it's that role or
    /// user.
    public var subject: Subject { visit.subject }
    /// The logged-in user.
    public var userID: ObjectId { visit.session.userID }
    /// The fields of the submitted form; empty for a page.
    public var form: PanelForm { visit.form }

    /// A path parameter, decoded.
    public func parameter(_ name: String) -> String { context.parameters.get(name)?.removingPercentEncoding ?? "" }

    /// A query parameter; nil if it's missing or empty.
    public func query(_ name: String) -> String? {
        guard let text = request.uri.queryParameters[name[...]], !text.isEmpty else { return nil }
        return String(text)
    }

    /// The requested address, with its query.
    public var address: String { request.uri.string }

    /// What the caller may see of the classes.
    /// - Parameter rules: the rules that admitted the request.
    func view(under rules: Rules) throws -> CallerView { try core.view(of: subject, under: rules) }

    /// Checks the password that came with the form, or demands one if it was last given too long ago. The password page
    /// submits the whole form again, so call this before anything is changed. Entering a password gives the session a
    /// new cookie. Actions with the demand ``PanelRoutes/Demand/recentPasswordSometimes`` call it, each at most once.
    public func demandPassword() async throws {
        if let password = form[PanelForm.passwordField] {
            do {
                let token = try await core.authenticator.proveAgain(
                    visit.session, visit.token, password: password, code: form[PanelForm.codeField],
                    address: context.remoteAddress)
                return visit.renew(token)
            } catch AuthenticationError.endedSession {
                // Most likely, the password was entered in another window in the meantime.
                throw PanelForm.foreign
            } catch AuthenticationError.wrongCredentials {
                throw RequestFailure(.passwordRequired, "This isn't your password.")
            } catch AuthenticationError.wrongCode {
                throw RequestFailure(.passwordRequired, AuthenticationError.wrongCode.description)
            }
        }
        guard visit.session.isProved(within: PanelSession.proofSeconds * Int64(Patience.factor)) else {
            throw RequestFailure(.passwordRequired, "Enter your password again to continue.")
        }
    }
}
