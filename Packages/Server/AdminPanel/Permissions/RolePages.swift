import AdminService
import HTTPTypes
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloRules
import TomboloServerModel

/// The roles of an app's permission matrix: who has one, and adding, renaming and removing additional roles.
struct RolePages: PanelSection {
    private static let role = PanelTemplate(PackageResources.role_mustache)
    private static let new = PanelTemplate(PackageResources.role_new_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let reading = RouteAccess.matrix(.read, of: models)
        let changing = RouteAccess.matrix(.update, of: models)
        panel.page("\(PermissionPages.path)/roles/new", access: changing) { request, grant in
            .page(newPage(request, grant))
        }
        panel.action("\(PermissionPages.path)/roles/new", access: changing, demands: .recentPassword) {
            request, grant in
            try await add(request, grant, models)
        }
        panel.page("\(PermissionPages.path)/role", access: reading) { request, grant in
            .page(try await page(request, try name(request, grant), grant))
        }
        panel.action("\(PermissionPages.path)/role/rename", access: changing, demands: .recentPassword) {
            request, grant in
            let (old, new) = (try name(request, grant), request.form["name"] ?? "")
            return try await change(request, .rename(old, to: new), old, grant, models) {
                // The names exactly as they were entered.
                let notice = localized("The role \(old) is now called \(new). Everybody who had it keeps it.")
                return .redirect(to: PermissionLinks.role(grant.app, new), notice: PanelNotice(notice))
            }
        }
        panel.action("\(PermissionPages.path)/role/remove", access: changing, demands: .recentPassword) {
            request, grant in
            let old = try name(request, grant)
            return try await change(request, .remove(old), old, grant, models) {
                let notice = localized("The role \(localizedName(old)) was removed.")
                return .redirect(to: PermissionLinks(grant.app).grid, notice: PanelNotice(notice))
            }
        }
    }

    /// The role named by the address.
    /// - Throws: ``RequestFailure`` with status 404.
    private func name(_ request: PanelRequest, _ grant: MatrixGrant) throws -> String {
        guard let name = request.query("role"), (grant.matrix.roles + grant.matrix.everywhereRoles).contains(name)
        else {
            throw RequestFailure(
                .notFound, "There is no such role.", hint: "Somebody may have renamed or removed it in the meantime.")
        }
        return name
    }

    // MARK: Looking

    private func page(
        _ request: PanelRequest, _ name: String, _ grant: MatrixGrant, after failure: RequestFailure? = nil
    ) async throws -> PanelPage {
        let holders = try await request.core.pool.withConnection {
            try await RoleHolders.find(name, of: grant.app, grant.model, $0)
        }
        var content = RoleContent(
            name, grant, holders, mayChange: grant.model.refusal(grant.subject, .update, ofMatrixOf: grant.app) == nil)
        content.newName = failure == nil ? name : request.form["name"] ?? name
        content.problem = failure.map {
            TrashGroupContent.Problem(message: $0.message, hint: $0.shownHint, parentLink: nil)
        }
        return PanelPage(
            localized("Role \(localizedName(name))"), crumbs: [PermissionPages.crumb(grant)],
            content: Self.role.render(request.values(content)), status: failure?.code.status ?? .ok)
    }

    private func newPage(
        _ request: PanelRequest, _ grant: MatrixGrant, after failure: RequestFailure? = nil
    ) -> PanelPage {
        var content = NewRoleContent(grant, { request.form[$0] })
        content.problem = failure.map {
            TrashGroupContent.Problem(message: $0.message, hint: $0.shownHint, parentLink: nil)
        }
        return PanelPage(
            localized("Add a role"), crumbs: [PermissionPages.crumb(grant)],
            content: Self.new.render(request.values(content)), status: failure?.code.status ?? .ok)
    }

    // MARK: Changing

    private func add(
        _ request: PanelRequest, _ grant: MatrixGrant, _ models: ServerModels
    ) async throws -> PanelAnswer {
        let name = request.form["name"] ?? ""
        var boxes: [String: Set<Operation>] = [:]
        for service in grant.matrix.services {
            for operation in PermissionMatrix.operations
            where request.form[NewRoleContent.field(operation, service.name)] != nil {
                boxes[service.name, default: []].insert(operation)
            }
            // Permission to change objects includes permission to read them.
            if boxes[service.name]?.isEmpty == false { boxes[service.name]?.insert(.read) }
        }
        let change = RoleChange.add(name, isEverywhere: request.form["reach"] == "everywhere", boxes: boxes)
        do {
            _ = try await models.change(change, of: grant.app, at: try version(request), by: grant.subject)
        } catch let error as PermissionChangeError {
            if case .notPermitted = error { throw RequestFailure(panel: error) }
            return .page(newPage(request, try fresh(grant, models), after: RequestFailure(panel: error)))
        }
        return .redirect(
            to: PermissionLinks.role(grant.app, name), notice: PanelNotice(localized("The role \(name) was added.")))
    }

    private func change(
        _ request: PanelRequest, _ change: RoleChange, _ name: String, _ grant: MatrixGrant, _ models: ServerModels,
        _ answer: () -> PanelAnswer
    ) async throws -> PanelAnswer {
        do {
            _ = try await models.change(change, of: grant.app, at: try version(request), by: grant.subject)
            return answer()
        } catch let error as PermissionChangeError {
            if case .notPermitted = error { throw RequestFailure(panel: error) }
            return .page(try await page(request, name, try fresh(grant, models), after: RequestFailure(panel: error)))
        }
    }

    private func version(_ request: PanelRequest) throws -> Int64 {
        guard let version = request.form["version"].flatMap({ Int64($0) }) else {
            throw RequestFailure(.unprocessable, "The form doesn't say which version of the rules it's for.")
        }
        return version
    }

    private func fresh(_ grant: MatrixGrant, _ models: ServerModels) throws -> MatrixGrant {
        let model = models.current
        guard let matrix = model.matrices[grant.app] else {
            throw RequestFailure(.notFound, "The app no longer has a permission matrix.")
        }
        return MatrixGrant(subject: grant.subject, app: grant.app, model: model, matrix: matrix)
    }
}
