public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloMetrics
internal import TomboloModel
public import TomboloPostgresStore
public import TomboloRedis
public import TomboloServerModel

/// The gateway's default port, and the environment variable that overrides it.
public enum GatewayServer {
    public static let portVariable = "TOMBOLO_GATEWAY_PORT"
    public static let defaultPort = 8080
    /// Connections to PostgreSQL: some for devices that bootstrap or catch up, five for uploads, one for the feed,
    /// and three for logins and session openings.
    public static let databaseConnections = Gateway.maximumConcurrentReads + UploadQueue.maximumConcurrency + 4

    /// The features of a gateway that need PostgreSQL sessions of their own, which a pooler in transaction mode
    /// doesn't provide. For ``TomboloHTTP/ServerConfiguration/findDatabase(connections:needing:logger:)``.
    /// - Parameter hearsTicks: whether the gateway follows ticks through LISTEN.
    public static func sessionNeeds(runsSequencer: Bool, hearsTicks: Bool, isDeveloping: Bool) -> [String] {
        var needs: [String] = []
        if runsSequencer {
            needs.append(
                "The sequencer's lock, snapshots and settings belong to a session. Run it with a direct connection, or "
                    + "through pool_mode = session: 'sync-gateway --sequencer-only'. Gateways can run with "
                    + "--no-sequencer."
            )
        }
        if hearsTicks {
            needs.append(
                "The gateway learns of changes through LISTEN, which needs a session of its own. Send them over Redis "
                    + "with \(TicksAddress.variable), or connect directly or through pool_mode = session.")
        }
        if isDeveloping {
            needs.append(
                "Development mode makes tables under a lock that belongs to a session. Connect to PostgreSQL directly.")
        }
        return needs
    }

    /// The most PostgreSQL connections that a process opens.
    public static func maximumDatabaseConnections(
        servesDevices: Bool, runsSequencer: Bool, hearsTicks: Bool
    ) -> Int {
        (servesDevices ? databaseConnections : 0) + (hearsTicks ? 1 : 0)
            + (runsSequencer ? Sequencer.maximumConnectionCount : 0)
            // One for retention.
            + (runsSequencer && servesDevices ? 1 : 0)
    }
}

/// Creates the gateway as services, in order of dependency. The pool must run for as long as they do.
/// - Parameters:
///   - port: 0 picks a free one.
///   - standby: the standby to read bootstraps from while it's usable, or nil for the primary only. Its pool must run
///     too.
///   - models: the models to serve. The gateway follows their changes.
///   - development: adds classes that devices bring; nil in production.
///   - metrics: the registry for the gateway's metrics.
///   - runsSequencer: whether this process stands for election as the sequencer. At least one process must.
///   - certificate: the TLS certificate, or nil for no TLS. It becomes one of the services.
///   - drainDelay: how long the gateway keeps working, while it reports that it isn't ready, after it was asked to
///     stop.
///   - redis: where to hear of ticks if PostgreSQL's notifications don't arrive, or nil for PostgreSQL.
///   - whenRunning: receives the port as soon as the server accepts connections.
/// - Throws: if the database has no tables yet, or can't be reached.
public func buildGatewayServices(
    host: String, port: Int, pool: PostgresPool, standby: PostgresStandby? = nil, models: ServerModels,
    authenticator: Authenticator,
    development: DevelopmentMode? = nil, runsSequencer: Bool = true, limits: HTTPLimits = HTTPLimits(),
    certificate: TLSCertificate? = nil, drainDelay: Duration = .zero, redis: RedisAddress? = nil,
    metrics: MetricRegistry = MetricRegistry(), logger: Logger = Logger(label: "gateway"),
    whenRunning: @escaping @Sendable (Int) async -> Void = { _ in }
) async throws -> [any Service] {
    let sequencer = SequencerService(configuration: pool.configuration, redis: redis, logger: logger)
    let ticks: any TickWakeUps =
        if let redis {
            RedisTickListener(redis, logger: logger)
        } else {
            TickListener(configuration: pool.configuration, logger: logger)
        }
    // Fail at startup rather than when the first device connects.
    let store = try await PostgresServerStore.open(schema: models.current.schema, pool: pool, logger: logger)
    var gatewayLimits = limits
    gatewayLimits.connections = Gateway.maximumConnectionCount
    let connectionsPerAddress = limits.connectionsPerAddress ?? Gateway.maximumConnectionCountOfAddress
    gatewayLimits.connectionsPerAddress = connectionsPerAddress
    let users = ConnectedUsers()
    var source = StoredModelSource(
        models: models, pool: pool, standby: standby, authenticator: authenticator, development: development,
        logger: logger)
    source.users = users
    let gateway = Gateway(
        models: source, users: users, connectionsPerAddress: connectionsPerAddress, metrics: metrics,
        wakeUps: { ticks.wakeUps() },
        onCommit: { sequencer.sequencer.nudge() }, logger: logger)
    let inspector = Inspector(services: gateway.services, models: models, authenticator: authenticator, pool: pool)
    let desk = InspectorDesk(
        inspector: inspector, rules: models.liveRules(), authenticator: authenticator, pool: pool, logger: logger)
    let readiness = Readiness(drainDelay: drainDelay, logger: logger)
    var http = HTTPApplication(
        name: "gateway", host: host, port: port, limits: gatewayLimits, metrics: metrics, logger: logger,
        authenticator: authenticator,
        whenRunning: whenRunning
    ) {
        $0.addHealth(pool, readiness: readiness)
        $0.addLogin(authenticator)
        $0.addAccounts(authenticator)
        InspectorRoutes(inspector, rules: models.liveRules()).add(to: $0)
        $0.addWebSocketHint()
    }
    http.certificate = certificate
    sequencer.collect(into: metrics)
    if let standby {
        metrics.define(GatewayFigures.ofStandby)
        metrics.collect { await GatewayFigures.samples(of: standby, beside: store) }
    }
    let electable: [any Service] =
        runsSequencer
        ? [
            sequencer,
            RetentionService(pool: pool, logger: logger),
        ] : []
    let following: [any Service] = certificate.map { [$0] } ?? []
    return following + electable + [ticks, gateway, desk, GatewayApplication(http: http, gateway: gateway), readiness]
}
