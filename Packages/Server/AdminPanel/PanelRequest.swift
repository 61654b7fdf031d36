import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// A request for a page, or a form that was sent, of somebody who is logged in.
struct PanelRequest: Sendable {
    let request: Request
    let context: EdgeContext
    let visit: PanelVisit
    let core: PanelCore

    var subject: Subject { visit.subject }
    var userID: ObjectId { visit.session.userID }
    /// The fields of the form that was sent; empty for a page.
    var form: PanelForm { visit.form }

    /// A parameter of the path, decoded.
    func parameter(_ name: String) -> String { context.parameters.get(name)?.removingPercentEncoding ?? "" }

    /// A parameter of the query; nil if it isn't there, or is empty.
    func query(_ name: String) -> String? {
        guard let text = request.uri.queryParameters[name[...]], !text.isEmpty else { return nil }
        return String(text)
    }

    /// The address that was asked for, with its query.
    var address: String { request.uri.string }

    /// What the caller may see of the classes.
    /// - Parameter rules: those that the decision about the route was made by.
    func view(under rules: Rules) throws -> CallerView { try core.view(of: subject, under: rules) }

    /// Takes the password that came with the form, or demands one if the last one was too long ago. A password gives the
    /// session another cookie.
    func demandPassword() async throws {
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
        guard visit.session.isProved() else {
            throw RequestFailure(.passwordRequired, "Enter your password again to continue.")
        }
    }
}
