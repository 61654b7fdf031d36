import AdminService
import HTTPTypes
import Hummingbird
import Logging
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Viewing the panel as a role or as another user: read-only, marked on every page, and logged. ``ViewAs`` decides who
/// may.
struct ViewAsPages: PanelSection {
    static let path = "\(AdminPanel.path)/view-as"
    /// Ends the viewing. Besides the logout, it's the only form that can be sent meanwhile.
    static let endPath = "\(path)/end"
    private static let template = PanelTemplate(PackageResources.view_as_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.inspecting(models)
        panel.page(Self.path, entry: PanelEntry("View as", in: .people), access: access) { request, model in
            .page(page(request, model))
        }
        panel.action(Self.path, access: access) { request, model in
            let wish = try await wish(request, model)
            let target = try await wish.subject(model, request.core.authenticator)
            if let refusal = ViewAs.refusal(of: request.subject, looking: target, model) { throw refusal }
            let name = try await PanelViewing.name(of: wish, request.core.authenticator)
            request.context.logger.notice(
                "\(request.userID) looks at the panel as \(name.forLog) from now on.",
                metadata: ["viewAs": "\(name.forLog)"])
            // The audit log must know who is viewing before the browser gets the cookie.
            let since = try await request.core.authenticator.beginViewing(as: name, request.visit.session)
            var response = PanelAnswer.redirection(to: AdminPanel.path)
            response.headers[values: .setCookie].append(
                PanelCookie.viewing.header(
                    request.visit.token.sealed(PanelViewing.text(wish, since: since)),
                    isSecure: request.context.isSecure))
            return .response(response)
        }
        panel.action(Self.endPath, access: .own(localized("session"))) { request, _ in
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
            return (matrix.roles + matrix.everywhereRoles).map { name in
                let title = localizedName(name)
                return WhyContent.Option(
                    value: "\(app)/\(name)", label: apps.count > 1 ? "\(title) (\(app))" : title, isChosen: false)
            }
        }
        return PanelPage(
            localized("View as"), content: Self.template.render(request.values(ViewAsContent(roles: roles))))
    }

    private func wish(_ request: PanelRequest, _ model: ServerModel) async throws -> ViewAs {
        if let text = request.form["user"], !text.isEmpty {
            do {
                return .user(try await request.core.authenticator.userID(text))
            } catch AuthenticationError.unknownUser {
                throw RequestFailure(
                    .unprocessable, "No account that may log in has this address or id.",
                    hint: "A disabled account sees nothing.")
            }
        }
        let parts = (request.form["role"] ?? "").split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw RequestFailure(.unprocessable, "Choose a role, or enter a user's address or id.")
        }
        var scope: ObjectId?
        if let text = request.form["scope"], !text.isEmpty { scope = try await self.scope(text, request, model) }
        return .role(parts[1], app: parts[0], scope: scope)
    }

    /// The scope of a role, by id or title.
    private func scope(_ text: String, _ request: PanelRequest, _ model: ServerModel) async throws -> ObjectId {
        if let id = try? ObjectId(string: text) { return id }
        let view = try request.view(under: model.rules)
        let reader = RecordReader(view: view, pool: request.core.pool)
        var found: [String] = []
        for type in PanelRequest.scopeTypes(view) {
            found += try await reader.ids(of: type, titled: [text]).joined()
        }
        guard found.count == 1, let id = try? ObjectId(string: found[0]) else {
            let words = text.shortened(toByteCount: 60)
            throw found.isEmpty
                ? RequestFailure(
                    .unprocessable, "No object in which roles can be granted is called '\(words)'.",
                    hint: "Enter its title exactly, or its id.")
                : RequestFailure(
                    .unprocessable, "Several are called '\(words)'.", hint: "Enter the id of the one that you mean.")
        }
        return id
    }
}

/// The values for the template `view_as`.
struct ViewAsContent: Sendable {
    let roles: [WhyContent.Option]
}
