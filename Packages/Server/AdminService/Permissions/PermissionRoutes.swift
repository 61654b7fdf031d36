import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloRules
public import TomboloServerModel

/// The permission matrix over HTTP, for any app whose rules have one.
///
/// - `GET /admin/permissions?app=`: the matrix and its version
/// - `PATCH /admin/permissions?app=`: changes one box, see ``BoxRequest``, with `If-Match`
/// - `/admin/permissions/roles`: adds, renames and removes roles
/// - `GET /admin/routes?app=`: which role may use which route of this server, as JSON, or as a page for browsers
public struct PermissionRoutes: Sendable {
    let models: ServerModels
    private let pool: PostgresPool

    public init(models: ServerModels, pool: PostgresPool) {
        self.models = models
        self.pool = pool
    }

    public func add(to routes: Routes) {
        routes.on(.get, "/admin/permissions", access: .matrix(.read, of: models)) { _, _, grant in
            try await answer(grant.model, grant.app)
        }
        routes.on(.patch, "/admin/permissions", access: .matrix(.update, of: models)) { request, context, grant in
            let version = try expectedVersion(request, grant)
            let wish = try await request.json(BoxRequest.self, context)
            return try await answer(try await change(wish, grant, at: version), grant.app)
        }
        addRoles(to: routes)
        let forecasts = routes.forecasts
        routes.on(.get, "/admin/routes", access: .matrix(.read, of: models)) { request, _, grant in
            let overview = RouteOverview(grant.model, grant.matrix, app: grant.app, forecasts)
            return request.wantsPage ? Overview.page(overview.page) : .json(overview.json)
        }
    }

    /// A route's response: JSON or a page.
    private enum Overview: ResponseGenerator {
        case json(JSON)
        case page(HTMLPage)

        func response(from request: Request, context: some RequestContext) throws -> Response {
            switch self {
            case .json(let content): try JSONAnswer(content).response(from: request, context: context)
            case .page(let page): try page.response(from: request, context: context)
            }
        }
    }

    // MARK: Changing

    private func change(_ wish: BoxRequest, _ grant: MatrixGrant, at version: Int64) async throws -> ServerModel {
        let box = try wish.box
        return try await explained {
            switch box {
            case .role(let box):
                try await models.set(box, to: wish.allowed, of: grant.app, at: version, by: grant.subject)
            case .users(let box):
                try await models.set(box, to: wish.allowed, of: grant.app, at: version, by: grant.subject)
            }
        }
    }

    func explained(_ body: () async throws -> ServerModel) async throws -> ServerModel {
        do {
            return try await body()
        } catch let error as PermissionChangeError {
            switch error {
            case .notPermitted(let denial): throw RequestFailure(denial)
            case .stale(let newest): throw RequestFailure.stale(newest)
            case .notPossible(let reason): throw RequestFailure(.unprocessable, reason)
            case .held(let reason): throw RequestFailure(.conflict, reason)
            case .mistakes(let problems):
                throw RequestFailure(
                    .unprocessable, "The rules would be invalid.", hint: problems.joined(separator: "\n"))
            }
        }
    }

    /// The version that `If-Match` names.
    func expectedVersion(_ request: Request, _ grant: MatrixGrant) throws -> Int64 {
        guard let text = request.headers[.ifMatch] else {
            throw RequestFailure(
                .preconditionRequired, "The request doesn't name the version of the matrix that it changes.",
                hint: "Send the ETag of GET /admin/permissions as If-Match.")
        }
        let tags = text.split(separator: ",").map { $0.filter { $0 != " " } }
        if tags.contains("*") || tags.contains(Self.tag(grant.version)) { return grant.version }
        // Another server may have stored a newer version that this one hasn't seen yet, so check the database.
        if let named = tags.lazy.compactMap({ Int64($0.filter { $0 != "\"" }) }).max(), named > grant.version {
            return named
        }
        throw RequestFailure.stale(grant.version)
    }

    private static func tag(_ version: Int64) -> String { "\"\(version)\"" }

    // MARK: Answering

    func answer(
        _ model: ServerModel, _ app: String, status: HTTPResponse.Status = .ok
    ) async throws -> JSONAnswer<JSON> {
        guard let matrix = model.matrices[app], let version = model.ruleVersions[app] else {
            throw RequestFailure(.notFound, "The app no longer has a permission matrix.")
        }
        let origin = try await pool.withConnection { try await DocumentTable.origin(of: version, $0) }
        let rows = (matrix.everywhereRoles + matrix.roles).map { role in
            let cells = matrix.services.map { service in
                // The rights of a role without boxes follow from the classes' own rules.
                let isRow = matrix.rows.contains(role)
                guard
                    let letters = isRow
                        ? "" : model.letters(everywhere: role, service: service.name, inMatrixOf: app)
                else { return (service.name, JSON.object([:])) }
                let boxes = PermissionMatrix.operations.map { operation in
                    let box = PermissionMatrix.Box(role: role, service: service.name, operation: operation)
                    let isPermitted =
                        isRow ? matrix.permits(box) : letters.contains(operation.name.prefix(1))
                    return (operation.name, JSON.bool(isPermitted))
                }
                return (service.name, JSON.object(Dictionary(boxes, uniquingKeysWith: { first, _ in first })))
            }
            return (role, JSON.object(Dictionary(cells, uniquingKeysWith: { first, _ in first })))
        }
        let content: JSON = [
            "app": .string(app), "version": .int(version), "changedAt": origin.map { JSON.string($0.time) } ?? .null,
            "changedBy": origin?.account.map { JSON.string($0) } ?? .null,
            "operations": .array(PermissionMatrix.operations.map { .string($0.name) }),
            "roles": Self.names(matrix.roles), "everywhereRoles": Self.names(matrix.everywhereRoles),
            // The roles with boxes, and the roles that can be renamed and removed.
            "editableRoles": Self.names(matrix.rows), "customRoles": Self.names(model.customRoles(of: app)),
            "services": .array(
                matrix.services.map { service in
                    ["name": .string(service.name), "classes": .array(service.classNames.map { .string($0) })]
                }),
            "permissions": .object(Dictionary(rows, uniquingKeysWith: { first, _ in first })),
            "userGroups": Self.names(matrix.userGroups), "userPermissions": Self.users(matrix),
        ]
        return JSONAnswer(content, status: status, headers: [.eTag: Self.tag(version)])
    }

    /// What users of each group may do where they have no role.
    private static func users(_ matrix: PermissionMatrix) -> JSON {
        let rows = matrix.userPermissions.map { permission in
            let cells = matrix.userGroups.map { group in
                (group, JSON.bool(matrix.permits(PermissionMatrix.UserBox(permission: permission, group: group))))
            }
            return (permission, JSON.object(Dictionary(cells, uniquingKeysWith: { first, _ in first })))
        }
        return .object(Dictionary(rows, uniquingKeysWith: { first, _ in first }))
    }

    private static func names(_ names: [String]) -> JSON { .array(names.map { .string($0) }) }
}

extension RequestFailure {
    static func stale(_ newest: Int64) -> RequestFailure {
        RequestFailure(
            .preconditionFailed, "The matrix isn't at the version in If-Match; its version is \(newest).",
            hint: "GET it again, check that the change is still wanted, and send the new ETag.")
    }
}
