public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloAuthentication
public import TomboloHTTP
import TomboloJSONAPI
public import TomboloLocalization
public import TomboloMetrics
public import TomboloRules
public import TomboloServerModel

/// The admin server's default port, and the variable that overrides it.
public enum AdminServer {
    public static let portVariable = "TOMBOLO_ADMIN_PORT"
    public static let defaultPort = 8081
}

/// The admin server as a service. The pool must run for as long as the server does. The pool's database role must own
/// the tables or be a member of the role that does; other roles don't see the trash.
/// - Parameters:
///   - port: 0 takes a free one.
///   - models: the models whose permission matrices are served; nil for none.
///   - showsDecisions: whether a response header says why a request was permitted or refused; for development only.
///   - people: what invitations need.
///   - metrics: where requests are counted; nil to count nothing.
///   - keptRequests: where requests are kept for days; nil keeps only the latest, in memory. It needs a
///     ``RequestWriterService``.
///   - languages: the languages of jobs' messages and reasons, besides English.
///   - pages: adds the routes of pages for people, if the server has any. It gets what the JSON routes work with.
///   - whenRunning: gets the port as soon as the server accepts connections.
public func buildAdminApplication(
    host: String, port: Int, pool: PostgresPool, rules: LiveRules, models: ServerModels? = nil,
    authenticator: Authenticator, showsDecisions: Bool = false, limits: HTTPLimits = HTTPLimits(),
    metrics: MetricRegistry? = nil, people: PeopleOptions = PeopleOptions(),
    keptRequests: KeptRequests? = nil, languages: MessageCatalogues = MessageCatalogues([]),
    logger: Logger = Logger(label: "admin"),
    pages: (Routes, AdminParts) -> Void = { _, _ in },
    whenRunning: @escaping @Sendable (Int) async -> Void = { _ in }
) -> HTTPApplication {
    let requests = keptRequests?.log ?? RequestLog()
    return HTTPApplication(
        name: "admin", host: host, port: port, limits: limits, metrics: metrics, requests: requests, logger: logger,
        authenticator: authenticator, showsDecisions: showsDecisions, whenRunning: whenRunning
    ) {
        $0.addHealth(pool)
        $0.addLogin(authenticator)
        AdminRoutes(rules: rules, pool: pool).add(to: $0)
        AuditRoutes(rules: rules, pool: pool, models: models).add(to: $0)
        if let models { PermissionRoutes(models: models, pool: pool).add(to: $0) }
        let people = PeopleRoutes(rules: rules, pool: pool, authenticator: authenticator, options: people)
        people.add(to: $0)
        let api = JSONAPIRoutes(rules: rules, pool: pool) { connection, schema, className, key, user, reason in
            _ = try await Trash(schema: schema, pool: pool).trash(
                className, key, by: user, because: reason, on: connection)
        }
        api.add(to: $0)
        BulkRoutes(api: api, trash: .of(pool), languages: languages).add(to: $0)
        pages($0, AdminParts(api: api, people: people, requests: requests, keptRequests: keptRequests))
    }
}

/// What an admin server does besides answering requests: it purges the trash, copies the audit log, ends "view as"
/// sessions that nobody has open any more, runs jobs, deletes old requests from the log, and makes backups. Any
/// number of processes may run it.
/// - Parameter backups: nil for a server that makes no backups.
public func buildAdminWork(
    rules: LiveRules, pool: PostgresPool, authenticator: Authenticator, backups: Backups? = nil,
    requests: RequestRetention = RequestRetention(), logger: Logger
) -> [any Service] {
    let making: [any Service] = backups.map { [BackupService($0, logger: logger)] } ?? []
    return [
        TrashPurgeService(rules: rules, pool: pool, logger: logger),
        AuditService(pool: pool, logger: logger),
        ViewingService(authenticator: authenticator, logger: logger),
        JobService(rules: rules, pool: pool, authenticator: authenticator, logger: logger),
        RequestExpiryService(requests, pool: pool, logger: logger),
    ] + making
}
