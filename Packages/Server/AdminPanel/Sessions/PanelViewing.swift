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

/// Whom a session is viewing the panel as.
struct PanelViewing: Sendable {
    /// The subject whose permissions apply.
    let subject: Subject
    /// The name for logs. It contains a role's scope as an id, which is permanent.
    let name: String
    /// The title for the mark on every page. It contains the title of a role's scope, if the viewer may see it.
    let title: String

    /// The name for logs.
    static func name(of viewing: ViewAs, _ authenticator: Authenticator) async throws -> String {
        switch viewing {
        case .user(let id):
            let details = try await authenticator.details(of: id)
            return details.name.isEmpty ? details.email ?? id.stringValue : details.name
        case .role(let name, _, let scope): return "the role \(name)\(scope.map { " in \($0)" } ?? "")"
        }
    }

    /// The title in the language of the page. It contains the title of a role's scope, if the viewer may see it.
    private static func title(
        of viewing: ViewAs, named name: String, _ viewer: Subject, under rules: Rules, _ core: PanelCore
    ) async throws -> String {
        guard case .role(let role, _, let scope) = viewing else { return name }
        guard let scope else { return localized("the role \(role)") }
        let reader = RecordReader(view: try core.view(of: viewer, under: rules), pool: core.pool)
        let titles = try await reader.scopeTitles(among: [scope.stringValue])
        return localized("the role \(role) in \(titles[.objectId(scope)] ?? scope.stringValue)")
    }

    /// During this time after the start, a request without the cookie doesn't end the viewing: the browser may not have
    /// received the cookie yet.
    private static let graceSeconds: Int64 = 60

    /// The text for a sealed cookie. It's valid as long as the audit log has the viewing that began at this time.
    static func text(_ viewing: ViewAs, since: Int64) -> String { "\(since)\n\(viewing.text)" }

    /// The viewing of a session, if there is one. Each request checks again who may view as whom. A viewing ends when
    /// it's no longer permitted, or when its cookie is missing.
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

    /// The forms that may be sent while viewing.
    private static let permittedPaths: Set<String> = [ViewAsPages.endPath, "\(AdminPanel.path)/logout"]

    /// - Throws: ``RequestFailure`` with status 403 for every request that may change something.
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
    /// Performs an action on the session itself: the audit log attributes it to the logged-in user, not to whom they
    /// view as.
    func asThemselves(_ body: () async throws -> Void) async throws {
        guard let origin = ChangeOrigin.current else { return try await body() }
        try await origin.by(visit.session.userID.stringValue).run { try await body() }
    }
}

extension PanelViewing {
    /// Logs which page somebody viewed.
    func log(_ request: Request, _ context: EdgeContext, _ session: PanelSession) {
        context.logger.info(
            "\(session.userID) looks at \(request.uri.path.forLog) as \(name.forLog).",
            metadata: ["viewAs": "\(name.forLog)"])
    }
}
