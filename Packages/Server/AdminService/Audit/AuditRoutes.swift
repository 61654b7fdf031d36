import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloModel
public import TomboloRules
public import TomboloServerModel

extension TomboloRules.Operation {
    /// Permits seeing in the audit log who changed objects, and how.
    public static let audit = TomboloRules.Operation("audit")
}

/// The audit log over HTTP, for classes whose rules permit `audit`. It shows only properties that the caller may
/// read.
///
/// - `GET /admin/audit?class=&object=&user=&from=&to=&operation=&source=&text=&after=&limit=`: newest first, see
///   ``AuditFilter``
/// - `GET /admin/audit/{collection}/{id}`: the history of an object, with its lists
/// - `POST /admin/audit/{collection}/{id}/put-back`, see ``AuditPutBack``: for callers who may make this change
///   themselves
public struct AuditRoutes: Sendable {
    private let rules: LiveRules
    private let log: AuditLog

    /// - Parameter models: determine who is a super administrator; nil for nobody.
    public init(rules: LiveRules, pool: PostgresPool, models: ServerModels? = nil) {
        self.rules = rules
        log = AuditLog(pool: pool, models: models)
    }

    public func add(to routes: Routes) {
        let log = log
        let access = AuditLog.access(by: rules)
        routes.on(.get, "/admin/audit", access: access) { request, _, grant in
            JSONAnswer(try await log.page(Self.parameters(request), grant))
        }
        routes.on(.get, "/admin/audit/{collection}/{id}", access: access) { request, context, grant in
            JSONAnswer(try await log.page(Self.parameters(request), object: Self.object(context, grant), grant))
        }
        routes.on(.post, "/admin/audit/{collection}/{id}/put-back", access: access) { request, context, grant in
            let (className, key) = try Self.object(context, grant)
            let wish = try await AuditPutBack.Wish(request.json(JSON.self, context))
            return JSONAnswer(try await log.putBack(wish, className: className, key: key, grant).json)
        }
    }

    private static func parameters(_ request: Request) -> [(name: String, value: String)] {
        request.uri.queryParameters.map { (String($0.key), String($0.value)) }
    }

    private static func object(
        _ context: EdgeContext, _ grant: ClassesGrant
    ) throws -> (className: String, key: String) {
        let item = try AuditLog.item(grant.rules.schema, collection: context.parameters.get("collection"))
        return (item.name, context.parameters.get("id") ?? "")
    }
}
