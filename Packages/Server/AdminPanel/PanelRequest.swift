import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
public import TomboloModel
public import TomboloRules

/// A request for a page, or a form that was sent, of somebody who is logged in.
public struct PanelRequest: Sendable {
    let request: Request
    let context: EdgeContext
    let visit: PanelVisit
    let core: PanelCore

    /// Whose permissions count: while somebody views the panel as a role or a user, it's that one's.
    public var subject: Subject { visit.subject }
    /// Who is logged in.
    public var userID: ObjectId { visit.session.userID }
    /// The fields of the form that was sent; empty for a page.
    public var form: PanelForm { visit.form }

    /// A parameter of the path, decoded.
    public func parameter(_ name: String) -> String { context.parameters.get(name)?.removingPercentEncoding ?? "" }

    /// A parameter of the query; nil if it isn't there, or is empty.
    public func query(_ name: String) -> String? {
        guard let text = request.uri.queryParameters[name[...]], !text.isEmpty else { return nil }
        return String(text)
    }

    /// The address that was asked for, with its query.
    public var address: String { request.uri.string }

    /// What the caller may see of the classes.
    /// - Parameter rules: those that the decision about the route was made by.
    func view(under rules: Rules) throws -> CallerView { try core.view(of: subject, under: rules) }

    /// Takes the password that came with the form, or demands one if the last one was too long ago. The page that asks sends
    /// everything that was sent once more, so this comes before anything is changed. A password gives the session another
    /// cookie. For actions with the demand ``PanelRoutes/Demand/recentPasswordSometimes``, once in each.
    public func demandPassword() async throws {
        if let password = form[PanelForm.passwordField] {
            do {
                let token = try await core.authenticator.proveAgain(
                    visit.session, visit.token, password: password, code: form[PanelForm.codeField],
                    address: context.remoteAddress)
                return visit.renew(token)
            } catch AuthenticationError.endedSession {
                // Most likely another window has given the password meanwhile.
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
