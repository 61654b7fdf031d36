import AdminService
import HTTPTypes
import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The permission matrix of each app: what each role may do, and changing one box.
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
        // The form's address says which app it's about, as the page's does: it's what the access looks at.
        panel.action("\(Self.path)/box", access: changing, demands: .recentPassword) { request, grant in
            try await change(request, grant, models)
        }
        let forecasts = panel.routes.forecasts
        panel.page("\(Self.path)/routes", access: reading) { request, grant in
            let overview = RouteOverview(grant.model, grant.matrix, app: grant.app, forecasts)
            let content = RoutesContent(overview, app: grant.app, search: request.query("search") ?? "")
            return .page(
                PanelPage(
                    "Routes by role", crumbs: [Self.crumb(grant)], content: Self.routes.render(request.values(content)))
            )
        }
    }

    private static func crumb(_ grant: MatrixGrant) -> PanelPage.Crumb {
        PanelPage.Crumb(title: "Permissions", path: PermissionLinks(grant.app).grid)
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
        return PanelPage("Permissions", content: Self.grid.render(request.values(content)))
    }

    // MARK: Changing a box

    /// What a form or an address asks for.
    private struct BoxWish {
        let box: PermissionMatrix.Box
        let allowed: Bool
        let version: Int64
        let classNames: [String]

        /// - Throws: ``RequestFailure`` with status 422 for a box that the matrix doesn't have.
        init(_ field: (String) -> String?, _ grant: MatrixGrant) throws {
            guard let role = field("role"), let service = field("service"), let operation = field("operation"),
                let allowed = field("allowed").flatMap({ Bool($0) }),
                let version = field("version").flatMap({ Int64($0) })
            else { throw RequestFailure(.unprocessable, "The address doesn't say which box it's about.") }
            box = PermissionMatrix.Box(role: role, service: service, operation: Operation(operation))
            self.allowed = allowed
            self.version = version
            guard grant.matrix.has(box) else {
                throw RequestFailure(.unprocessable, "The matrix of \(grant.app) has no such box.")
            }
            classNames = grant.matrix.services.first { $0.name == service }?.classNames ?? []
        }
    }

    private func confirmation(
        _ request: PanelRequest, _ wish: BoxWish, _ grant: MatrixGrant, after failure: RequestFailure? = nil
    ) throws -> PanelPage {
        var content = PermissionBoxContent(
            wish.box, allowed: wish.allowed, app: grant.app, version: failure == nil ? wish.version : grant.version,
            classNames: wish.classNames)
        let isSet = grant.matrix.permits(wish.box) == wish.allowed
        if let failure {
            content.problem = TrashGroupContent.Problem(
                message: failure.message, hint: failure.hint, parentLink: nil)
        } else if wish.version != grant.version || isSet {
            content.problem = Self.stale(isSet: isSet)
        }
        return PanelPage(
            content.question, crumbs: [Self.crumb(grant)], content: Self.box.render(request.values(content)),
            status: failure?.code.status ?? .ok)
    }

    private static func stale(isSet: Bool) -> TrashGroupContent.Problem {
        TrashGroupContent.Problem(
            message: "The rules have changed since you opened the page.",
            hint: isSet
                ? "The box is as you want it already." : "Look at the permissions again, and choose the box there.",
            parentLink: nil)
    }

    private func change(
        _ request: PanelRequest, _ grant: MatrixGrant, _ models: ServerModels
    ) async throws -> PanelAnswer {
        let wish = try BoxWish({ request.form[$0] }, grant)
        do {
            _ = try await models.set(wish.box, to: wish.allowed, of: grant.app, at: wish.version, by: grant.subject)
        } catch let error as PermissionChangeError {
            switch error {
            case .notPermitted(let denial): throw RequestFailure(denial)
            case .stale:
                let failure = RequestFailure(
                    .preconditionFailed,
                    "Somebody has changed the rules since you opened the page; nothing was stored.",
                    hint:
                        "Look at the permissions again. If you still want it, send it once more: it's about the newest "
                        + "rules now.")
                return .page(try confirmation(request, wish, try fresh(grant, models), after: failure))
            case .notPossible(let reason): throw RequestFailure(.unprocessable, reason)
            case .mistakes(let problems):
                throw RequestFailure(
                    .unprocessable, "The rules would have mistakes.", hint: problems.joined(separator: "\n"))
            }
        }
        let words =
            "\(wish.box.role) may \(wish.allowed ? "" : "not ")\(wish.box.operation) \(wish.box.service) "
            + (wish.allowed ? "now." : "any more.")
        return .redirect(to: PermissionLinks(grant.app).grid, notice: PanelNotice(words))
    }

    /// The grant on the rules as they are by now.
    private func fresh(_ grant: MatrixGrant, _ models: ServerModels) throws -> MatrixGrant {
        let model = models.current
        guard let matrix = model.matrices[grant.app] else {
            throw RequestFailure(.notFound, "The app has no permission matrix any more.")
        }
        return MatrixGrant(subject: grant.subject, app: grant.app, model: model, matrix: matrix)
    }
}
