import AdminService
import HTTPTypes
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Looking at the panel as a role or as another user: read-only, marked on every page, and logged. Who may is decided by
/// ``ViewAs``.
struct ViewAsPages: PanelSection {
    static let path = "\(AdminPanel.path)/view-as"
    /// Where it ends: the only thing that can be sent while it lasts, besides the log-out.
    static let endPath = "\(path)/end"
    private static let template = PanelTemplate(PackageResources.view_as_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.inspecting(models)
        panel.page(Self.path, entry: PanelEntry("View as", in: .people), access: access) { request, model in
            .page(page(request, model))
        }
        panel.action(Self.path, access: access) { request, model in
            let wish = try wish(request)
            let target = try await wish.subject(model, request.core.authenticator)
            if let refusal = ViewAs.refusal(of: request.subject, looking: target, model) { throw refusal }
            let name = try await PanelViewing.name(of: wish, request.core.authenticator)
            request.context.logger.notice(
                "\(request.userID) looks at the panel as \(name.forLog) from now on.",
                metadata: ["viewAs": "\(name.forLog)"])
            // Before the cookie: who looks is in the audit log.
            let since = try await request.core.authenticator.beginViewing(as: name, request.visit.session)
            var response = PanelAnswer.redirection(to: AdminPanel.path)
            response.headers[values: .setCookie].append(
                PanelCookie.viewing.header(
                    request.visit.token.sealed(PanelViewing.text(wish, since: since)),
                    isSecure: request.context.isSecure))
            return .response(response)
        }
        panel.action(Self.endPath, access: .own("session")) { request, _ in
            if let viewing = request.visit.viewing {
                request.context.logger.notice(
                    "\(request.visit.session.userID) no longer looks at the panel as \(viewing.name.forLog).",
                    metadata: ["viewAs": "\(viewing.name.forLog)"])
            }
            try await request.asThemselves {
                try await request.core.authenticator.endViewing(request.visit.session)
            }
            var response = PanelAnswer.redirection(to: AdminPanel.path)
            response.headers[values: .setCookie].append(
                PanelCookie.viewing.removal(isSecure: request.context.isSecure))
            return .response(response)
        }
    }

    private func page(_ request: PanelRequest, _ model: ServerModel) -> PanelPage {
        let apps = model.matrices.keys.sorted()
        let roles = apps.flatMap { app -> [WhyContent.Option] in
            guard let matrix = model.matrices[app] else { return [] }
            return (matrix.roles + matrix.everywhereRoles).map {
                WhyContent.Option(
                    value: "\(app)/\($0)", label: apps.count > 1 ? "\($0) (\(app))" : $0, isChosen: false)
            }
        }
        return PanelPage(
            "View as", content: Self.template.render(request.values(ViewAsContent(roles: roles))))
    }

    private func wish(_ request: PanelRequest) throws -> ViewAs {
        if let text = request.form["user"], !text.isEmpty {
            guard let id = try? ObjectId(string: text) else {
                throw RequestFailure(.unprocessable, "The user's id isn't 24 hexadecimal digits.")
            }
            return .user(id)
        }
        let parts = (request.form["role"] ?? "").split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw RequestFailure(.unprocessable, "Choose a role, or give a user's id.")
        }
        var scope: ObjectId?
        if let text = request.form["scope"], !text.isEmpty {
            guard let id = try? ObjectId(string: text) else {
                throw RequestFailure(.unprocessable, "The id of what the role is for isn't 24 hexadecimal digits.")
            }
            scope = id
        }
        return .role(parts[1], app: parts[0], scope: scope)
    }
}

/// What the template `view_as` shows.
struct ViewAsContent: Sendable {
    let roles: [WhyContent.Option]
}
