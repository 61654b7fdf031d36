public import AdminPanel
import AdminService
public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloMetrics
public import TomboloServerModel

/// The services of an admin server with its panel, in order of dependency. The pool must run for as long as they do,
/// and some service must follow the models.
/// - Parameters:
///   - environment: the environment, with the panel's settings already read into it.
///   - additions: an app's own pages and fields.
///   - options: settings from command-line options, by the names of the corresponding variables. For the settings
///     page.
///   - database: used for the services' own connections.
///   - showsDecisions: whether a header says why a request was permitted or refused. For development only.
///   - certificate: the TLS certificate, or nil for no TLS. It becomes one of the services.
///   - whenRunning: receives the port as soon as the server accepts connections.
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
        people: PeopleOptions(settings), keptRequests: kept, languages: environment.languages.texts, logger: logger,
        pages: { panel.add(to: $0, with: $1) },
        whenRunning: whenRunning)
    server.certificate = certificate
    let following: [any Service] = certificate.map { [$0] } ?? []
    let shrinking: [any Service] = thumbnails.map { [$0] } ?? []
    // Services shut down from last to first, so the server's last requests are logged too.
    let writing: [any Service] = kept.map { [RequestWriterService($0, logger: logger)] } ?? []
    return following + writing + shrinking + [PanelFollower(panel, configuration: database, logger: logger), server]
        + buildAdminWork(
            rules: rules, pool: pool, authenticator: authenticator, backups: backups,
            requests: environment.requests, logger: logger)
}
