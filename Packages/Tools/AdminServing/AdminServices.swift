public import AdminPanel
import AdminService
public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloMetrics
public import TomboloServerModel

/// The services of an admin server with its panel, in the order in which they need each other. The pool must run for as long as
/// they do, and something must follow the models.
/// - Parameters:
///   - environment: with settings that the panel's have been read into.
///   - additions: pages and fields of an app's own.
///   - options: what was said in another way than by variables, by the names of these: for the page of settings.
///   - database: for connections of the services' own.
///   - showsDecisions: whether a header says why a request was permitted or refused: for development only.
///   - certificate: for TLS; nil without. It's among the services.
///   - whenRunning: gets the port as soon as the server accepts connections.
public func buildAdminServices(
    _ configuration: ServerConfiguration, _ environment: AdminEnvironment, additions: PanelAdditions = PanelAdditions(),
    options: [String: String] = [:], database: PostgresConfiguration, pool: PostgresPool, models: ServerModels,
    authenticator: Authenticator, showsDecisions: Bool = false, certificate: TLSCertificate? = nil,
    metrics: MetricRegistry, logger: Logger, whenRunning: @escaping @Sendable (Int) async -> Void
) -> [any Service] {
    let rules = models.liveRules()
    let settings = environment.settings
    let backups = environment.backups.map {
        Backups(
            $0, schedule: { settings.current.backups }, restoring: environment.restoring, pool: pool, logger: logger)
    }
    let thumbnails = environment.thumbnails.map { Thumbnails($0, logger: logger) }
    let panel = AdminPanel(
        rules: rules, pool: pool, authenticator: authenticator, models: models,
        settings: ServerSettings(options: options), backups: backups, sql: environment.sql, live: settings,
        languages: environment.languages, modelChanges: environment.modelChanges, thumbnails: thumbnails,
        additions: additions)
    let kept = KeptRequests(environment.requests, pool: pool)
    for warning in panel.warnings { logger.warning("\(warning)") }
    var server = buildAdminApplication(
        host: configuration.host, port: configuration.port, pool: pool, rules: rules, models: models,
        authenticator: authenticator, showsDecisions: showsDecisions, limits: configuration.limits, metrics: metrics,
        people: PeopleOptions(settings), keptRequests: kept, logger: logger,
        pages: { panel.add(to: $0, with: $1) },
        whenRunning: whenRunning)
    server.certificate = certificate
    let following: [any Service] = certificate.map { [$0] } ?? []
    let shrinking: [any Service] = thumbnails.map { [$0] } ?? []
    // Services are shut down from the last to the first: the server's last requests are written too.
    let writing: [any Service] = kept.map { [RequestWriterService($0, logger: logger)] } ?? []
    return following + writing + shrinking + [PanelFollower(panel, configuration: database, logger: logger), server]
        + buildAdminWork(
            rules: rules, pool: pool, authenticator: authenticator, backups: backups,
            requests: environment.requests, logger: logger)
}
