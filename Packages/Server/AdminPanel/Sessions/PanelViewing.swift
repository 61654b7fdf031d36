import AdminService
import HTTPTypes
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Whom a session looks at the panel as, while it does.
struct PanelViewing: Sendable {
    /// Whose sight counts.
    let subject: Subject
    /// For the mark on every page, and logs.
    let name: String

    static func name(of viewing: ViewAs, _ authenticator: Authenticator) async throws -> String {
        switch viewing {
        case .user(let id):
            let details = try await authenticator.details(of: id)
            return details.name.isEmpty ? details.email ?? id.stringValue : details.name
        case .role(let name, _, let scope): return "the role \(name)\(scope.map { " in \($0)" } ?? "")"
        }
    }

    /// What the cookie of a session says, if it counts still. Who may look as whom is decided at each request anew.
    static func of(
        _ request: Request, _ context: EdgeContext, _ token: PanelToken, _ session: PanelSession, _ core: PanelCore
    ) async throws -> PanelViewing? {
        guard let sealed = PanelCookie.viewing.value(in: request, context), let models = core.models,
            let text = token.opened(sealed), let viewing = ViewAs(text)
        else { return nil }
        let model = models.current
        guard let subject = try? await viewing.subject(model, core.authenticator),
            ViewAs.refusal(of: session.subject, looking: subject, model) == nil
        else { return nil }
        return PanelViewing(subject: subject, name: try await name(of: viewing, core.authenticator))
    }

    /// What may be sent while it lasts.
    private static let permittedPaths: Set<String> = [ViewAsPages.endPath, "\(AdminPanel.path)/logout"]

    /// - Throws: ``RequestFailure`` with status 403 for everything that may change something.
    func check(_ request: Request) throws {
        guard request.method != .get, request.method != .head, !Self.permittedPaths.contains(request.uri.path) else {
            return
        }
        throw RequestFailure(
            .forbidden, "You look at the panel as \(name), and nothing was changed.",
            hint: "Stop viewing as \(name) first: the button is at the top of every page.")
    }
}

extension PanelRequest {
    /// Does something of the session itself: in the audit log it's by who is logged in, not by whom they look as.
    func asThemselves(_ body: () async throws -> Void) async throws {
        guard let origin = ChangeOrigin.current else { return try await body() }
        try await origin.by(visit.session.userID.stringValue).run { try await body() }
    }
}

extension PanelViewing {
    /// Notes which page somebody looked at.
    func log(_ request: Request, _ context: EdgeContext, _ session: PanelSession) {
        context.logger.info(
            "\(session.userID) looks at \(request.uri.path) as \(name).", metadata: ["viewAs": "\(name)"])
    }
}
