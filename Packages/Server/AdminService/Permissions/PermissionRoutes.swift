import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloRules
public import TomboloServerModel

/// The permission matrix over HTTP, of whichever app has one in its rules.
///
/// - `GET /admin/permissions?app=`: the matrix and its version
/// - `PATCH /admin/permissions?app=`: one box, see ``BoxRequest``, with `If-Match`
/// - `GET /admin/routes?app=`: which role may use which route of this server, as JSON, and for browsers as a page
public struct PermissionRoutes: Sendable {
    private let models: ServerModels
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
        let forecasts = routes.forecasts
        routes.on(.get, "/admin/routes", access: .matrix(.read, of: models)) { request, _, grant in
            let overview = RouteOverview(grant.model, grant.matrix, app: grant.app, forecasts)
            return request.wantsPage ? Overview.page(overview.page) : .json(overview.json)
        }
    }

    /// What a route answers as JSON, or as a page.
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
        do {
            return try await models.set(wish.box, to: wish.allowed, of: grant.app, at: version, by: grant.subject)
        } catch let error as PermissionChangeError {
            switch error {
            case .notPermitted(let denial): throw RequestFailure(denial)
            case .stale(let newest): throw RequestFailure.stale(newest)
            case .notPossible(let reason): throw RequestFailure(.unprocessable, reason)
            case .mistakes(let problems):
                throw RequestFailure(
                    .unprocessable, "The rules would have mistakes.", hint: problems.joined(separator: "\n"))
            }
        }
    }

    /// The version that `If-Match` names.
    private func expectedVersion(_ request: Request, _ grant: MatrixGrant) throws -> Int64 {
        guard let text = request.headers[.ifMatch] else {
            throw RequestFailure(
                .preconditionRequired, "The request doesn't say which version of the matrix it is about.",
                hint: "Send the ETag of GET /admin/permissions as If-Match.")
        }
        let tags = text.split(separator: ",").map { $0.filter { $0 != " " } }
        if tags.contains("*") || tags.contains(Self.tag(grant.version)) { return grant.version }
        // Another server may have made a newer one, of which this one hasn't heard: the database knows.
        if let named = tags.lazy.compactMap({ Int64($0.filter { $0 != "\"" }) }).max(), named > grant.version {
            return named
        }
        throw RequestFailure.stale(grant.version)
    }

    private static func tag(_ version: Int64) -> String { "\"\(version)\"" }

    // MARK: Answering

    private func answer(_ model: ServerModel, _ app: String) async throws -> JSONAnswer<JSON> {
        guard let matrix = model.matrices[app], let version = model.ruleVersions[app] else {
            throw RequestFailure(.notFound, "The app has no permission matrix any more.")
        }
        let origin = try await pool.withConnection { try await DocumentTable.origin(of: version, $0) }
        let rows = matrix.roles.map { role in
            let cells = matrix.services.map { service in
                let boxes = PermissionMatrix.operations.map { operation in
                    let box = PermissionMatrix.Box(role: role, service: service.name, operation: operation)
                    return (operation.name, JSON.bool(matrix.permits(box)))
                }
                return (service.name, JSON.object(Dictionary(boxes, uniquingKeysWith: { first, _ in first })))
            }
            return (role, JSON.object(Dictionary(cells, uniquingKeysWith: { first, _ in first })))
        }
        let content: JSON = [
            "app": .string(app), "version": .int(version), "changedAt": origin.map { JSON.string($0.time) } ?? .null,
            "changedBy": origin?.account.map { JSON.string($0) } ?? .null,
            "operations": .array(PermissionMatrix.operations.map { .string($0.name) }),
            "roles": .array(matrix.roles.map { .string($0) }),
            "services": .array(
                matrix.services.map { service in
                    ["name": .string(service.name), "classes": .array(service.classNames.map { .string($0) })]
                }),
            "permissions": .object(Dictionary(rows, uniquingKeysWith: { first, _ in first })),
        ]
        return JSONAnswer(content, headers: [.eTag: Self.tag(version)])
    }
}

extension RequestFailure {
    fileprivate static func stale(_ newest: Int64) -> RequestFailure {
        RequestFailure(
            .preconditionFailed, "The matrix has another version than the one that the request is about: \(newest).",
            hint: "Get it again, look whether the change is still wanted, and send the new ETag.")
    }
}
