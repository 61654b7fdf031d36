import AdminService
import HTTPTypes
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The permission matrix of each app: what each role may do, and changing a single box.
struct PermissionPages: PanelSection {
    static let path = "\(AdminPanel.path)/permissions"
    private static let grid = PanelTemplate(PackageResources.permissions_mustache)
    private static let box = PanelTemplate(PackageResources.permission_box_mustache)
    private static let routes = PanelTemplate(PackageResources.routes_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let reading = RouteAccess.matrix(.read, of: models)
        let changing = RouteAccess.matrix(.update, of: models)
        panel.page(Self.path, entry: PanelEntry("Permissions", in: .people), access: reading) { request, grant in
            .page(try await page(request, grant, models))
        }
        panel.page("\(Self.path)/box", access: changing) { request, grant in
            let wish = try BoxWish(request.query, grant)
            return .page(try confirmation(request, wish, grant))
        }
        // Like the page's address, the form's address names the app: the access decision depends on it.
        panel.action("\(Self.path)/box", access: changing, demands: .recentPassword) { request, grant in
            try await change(request, grant, models)
        }
        let forecasts = panel.routes.forecasts
        panel.page("\(Self.path)/routes", access: reading) { request, grant in
            let overview = RouteOverview(grant.model, grant.matrix, app: grant.app, forecasts)
            let content = RoutesContent(overview, app: grant.app, search: request.query("search") ?? "")
            return .page(
                PanelPage(
                    localized("Routes by role"), crumbs: [Self.crumb(grant)],
                    content: Self.routes.render(request.values(content))))
        }
    }

    static func crumb(_ grant: MatrixGrant) -> PanelPage.Crumb {
        PanelPage.Crumb(title: localized("Permissions"), path: PermissionLinks(grant.app).grid)
    }

    private func page(
        _ request: PanelRequest, _ grant: MatrixGrant, _ models: ServerModels
    ) async throws -> PanelPage {
        let readable = grant.model.matrices.keys.sorted().filter {
            grant.model.refusal(grant.subject, .read, ofMatrixOf: $0) == nil
        }
        let found = try await request.core.pool.withConnection { connection in
            try await DocumentTable.history(app: grant.app, kind: .rules, connection).versions
                .first { $0.version == grant.version }
        }
        let content = PermissionsContent(
            grant, apps: readable,
            mayChange: grant.model.refusal(grant.subject, .update, ofMatrixOf: grant.app) == nil,
            changedAt: found.map { Moment($0.addedAt, now: request.now).exact },
            changedBy: found.flatMap { $0.accountName ?? $0.account })
        return PanelPage(localized("Permissions"), content: Self.grid.render(request.values(content)))
    }

    // MARK: Changing a box

    private func confirmation(
        _ request: PanelRequest, _ wish: BoxWish, _ grant: MatrixGrant, after failure: RequestFailure? = nil
    ) throws -> PanelPage {
        var content = PermissionBoxContent(
            wish, app: grant.app, version: failure == nil ? wish.version : grant.version)
        if let failure {
            content.problem = TrashGroupContent.Problem(
                message: failure.message, hint: failure.shownHint, parentLink: nil)
        } else if wish.version != grant.version || wish.isSet {
            content.problem = Self.stale(isSet: wish.isSet)
        }
        content.pages = Self.pages(wish, request, grant)
        return PanelPage(
            content.question, crumbs: [Self.crumb(grant)], content: Self.box.render(request.values(content)),
            status: failure?.code.status ?? .ok)
    }

    /// The pages to which a box of a service without classes gives access.
    private static func pages(
        _ wish: BoxWish, _ request: PanelRequest, _ grant: MatrixGrant
    ) -> [PermissionBoxContent.Page] {
        guard case .role(let box, _) = wish.box,
            let service = grant.matrix.services.first(where: { $0.name == box.service })
        else { return [] }
        return request.core.entries(openedBy: service.purposes(of: box.operation)).map { page in
            PermissionBoxContent.Page(
                title: page.entry.localizedTitle, path: page.isShown(request.subject) ? page.path : nil)
        }
    }

    private static func stale(isSet: Bool) -> TrashGroupContent.Problem {
        TrashGroupContent.Problem(
            message: localized("The rules have changed since you opened the page."),
            hint: isSet
                ? localized("The box is already as you want it.")
                : localized("Go back to the permissions, and choose the box there."),
            parentLink: nil)
    }

    private func change(
        _ request: PanelRequest, _ grant: MatrixGrant, _ models: ServerModels
    ) async throws -> PanelAnswer {
        let wish = try BoxWish({ request.form[$0] }, grant)
        let (app, subject, version) = (grant.app, grant.subject, wish.version)
        do {
            switch wish.box {
            case .role(let box, _):
                _ = try await models.set(box, to: wish.allowed, of: app, at: version, by: subject)
            case .users(let box):
                _ = try await models.set(box, to: wish.allowed, of: app, at: version, by: subject)
            }
        } catch PermissionChangeError.stale {
            return .page(try confirmation(request, wish, try fresh(grant, models), after: RequestFailure.staleRules))
        } catch let error as PermissionChangeError {
            throw RequestFailure(panel: error)
        }
        return .redirect(to: PermissionLinks(app).grid, notice: PanelNotice(wish.notice))
    }

    /// The grant under the current rules.
    private func fresh(_ grant: MatrixGrant, _ models: ServerModels) throws -> MatrixGrant {
        let model = models.current
        guard let matrix = model.matrices[grant.app] else {
            throw RequestFailure(.notFound, "The app no longer has a permission matrix.")
        }
        return MatrixGrant(subject: grant.subject, app: grant.app, model: model, matrix: matrix)
    }
}

extension RequestFailure {
    static var staleRules: RequestFailure {
        RequestFailure(
            .preconditionFailed, "Somebody has changed the rules since you opened the page; nothing was stored.",
            hint:
                "Check the permissions again. To make the change anyway, send it again: it's now for the newest rules."
        )
    }

    /// Why a change of the matrix wasn't made, for a page.
    init(panel error: PermissionChangeError) {
        switch error {
        case .notPermitted(let denial): self.init(denial)
        case .stale: self = .staleRules
        case .notPossible(let reason): self.init(.unprocessable, reason)
        case .held(let reason): self.init(.conflict, reason)
        case .mistakes(let problems):
            self.init(
                .unprocessable, localized("The rules would be invalid."), hint: problems.joined(separator: "\n"))
        }
    }
}
