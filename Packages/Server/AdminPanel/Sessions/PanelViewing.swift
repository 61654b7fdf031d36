import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloLocalization

/// Whom a session looks at the panel as, while it does.
struct PanelViewing: Sendable {
    /// Whose sight counts.
    let subject: Subject
    /// For logs: what a role is given in by its id, which stays.
    let name: String
    /// For the mark on every page: what a role is given in by its title, if the viewer may see it.
    let title: String

    /// For logs.
    static func name(of viewing: ViewAs, _ authenticator: Authenticator) async throws -> String {
        switch viewing {
        case .user(let id):
            let details = try await authenticator.details(of: id)
            return details.name.isEmpty ? details.email ?? id.stringValue : details.name
        case .role(let name, _, let scope): return "the role \(name)\(scope.map { " in \($0)" } ?? "")"
        }
    }

    /// The name in the language of the page, with the title of what a role is given in, if the viewer sees that.
    private static func title(
        of viewing: ViewAs, named name: String, _ viewer: Subject, under rules: Rules, _ core: PanelCore
    ) async throws -> String {
        guard case .role(let role, _, let scope) = viewing else { return name }
        guard let scope else { return localized("the role \(role)") }
        let reader = RecordReader(view: try core.view(of: viewer, under: rules), pool: core.pool)
        let titles = try await reader.scopeTitles(among: [scope.stringValue])
        return localized("the role \(role) in \(titles[.objectId(scope)] ?? scope.stringValue)")
    }

    /// Within so many seconds of its beginning a look isn't ended by a request without its cookie: the browser may not have
    /// it yet.
    private static let graceSeconds: Int64 = 60

    /// For a sealed cookie, which counts while the audit log has the look that began then.
    static func text(_ viewing: ViewAs, since: Int64) -> String { "\(since)\n\(viewing.text)" }

    /// As whom a session looks, if it does. Who may look as whom is decided at each request anew; a look that isn't
    /// permitted any more ends, and so does one whose cookie is gone.
    static func of(
        _ request: Request, _ context: EdgeContext, _ token: PanelToken, _ session: PanelSession, _ core: PanelCore
    ) async throws -> PanelViewing? {
        guard let since = session.viewingSince else { return nil }
        if let sealed = PanelCookie.viewing.value(in: request, context),
            let viewing = try await of(token.opened(sealed), since, session, core)
        {
            return viewing
        }
        if Date().microsecondsSince1970 - since > graceSeconds * 1_000_000 {
            try await core.authenticator.endViewing(session)
        }
        return nil
    }

    private static func of(
        _ text: String?, _ since: Int64, _ session: PanelSession, _ core: PanelCore
    ) async throws -> PanelViewing? {
        let parts = text?.split(separator: "\n", maxSplits: 1).map(String.init) ?? []
        guard let models = core.models, parts.count == 2, parts[0] == String(since), let viewing = ViewAs(parts[1])
        else { return nil }
        let model = models.current
        guard let subject = try? await viewing.subject(model, core.authenticator),
            ViewAs.refusal(of: session.subject, looking: subject, model) == nil
        else { return nil }
        let name = try await name(of: viewing, core.authenticator)
        let title = try await title(of: viewing, named: name, session.subject, under: model.rules, core)
        return PanelViewing(subject: subject, name: name, title: title)
    }

    /// What may be sent while it lasts.
    private static let permittedPaths: Set<String> = [ViewAsPages.endPath, "\(AdminPanel.path)/logout"]

    /// - Throws: ``RequestFailure`` with status 403 for everything that may change something.
    func check(_ request: Request) throws {
        guard request.method != .get, request.method != .head, !Self.permittedPaths.contains(request.uri.path) else {
            return
        }
        throw RequestFailure(
            .forbidden, "You are viewing the panel as \(title), so nothing was changed.",
            hint: "Stop viewing as \(title) first: the button is at the top of every page.")
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
            "\(session.userID) looks at \(request.uri.path.forLog) as \(name.forLog).",
            metadata: ["viewAs": "\(name.forLog)"])
    }
}
