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

/// The port that the gateway listens on unless told otherwise, and the variable that tells it.
public enum GatewayServer {
    public static let portVariable = "TOMBOLO_GATEWAY_PORT"
    public static let defaultPort = 8080
    /// Connections to PostgreSQL: for devices that bootstrap or catch up, five for uploads, one for the feed, and three
    /// for logins and openings.
    public static let databaseConnections = Gateway.maximumConcurrentReads + UploadQueue.maximumConcurrency + 4

    /// What of a gateway needs sessions of PostgreSQL's to itself, which a pooler in transaction mode doesn't give: for
    /// ``TomboloHTTP/ServerConfiguration/findDatabase(connections:needing:logger:)``.
    /// - Parameter hearsTicks: whether it follows the ticks by LISTEN.
    public static func sessionNeeds(runsSequencer: Bool, hearsTicks: Bool, isDeveloping: Bool) -> [String] {
        var needs: [String] = []
        if runsSequencer {
            needs.append(
                "The sequencer's lock, snapshots and settings belong to sessions. Run it with a direct connection, or "
                    + "through pool_mode = session: 'sync-gateway --sequencer-only'. Gateways may run with --no-sequencer."
            )
        }
        if hearsTicks {
            needs.append(
                "The gateway hears of changes by LISTEN, which needs a session of its own. Let it hear of them over Redis "
                    + "with \(TicksAddress.variable), or connect it directly or through pool_mode = session.")
        }
        if isDeveloping {
            needs.append(
                "Development mode makes tables under a lock that belongs to a session. Connect directly to PostgreSQL.")
        }
        return needs
    }

    /// How many connections to PostgreSQL a process opens at most.
    public static func maximumDatabaseConnections(
        servesDevices: Bool, runsSequencer: Bool, hearsTicks: Bool
    ) -> Int {
        (servesDevices ? databaseConnections : 0) + (hearsTicks ? 1 : 0)
            + (runsSequencer ? Sequencer.maximumConnectionCount : 0)
            // Retention's.
            + (runsSequencer && servesDevices ? 1 : 0)
    }
}

/// The gateway as services, in the order in which they depend on each other. The pool must run for as long as they do.
/// - Parameters:
///   - port: 0 takes a free one.
///   - standby: where bootstraps are read from while it's fit for that; nil for the primary alone. Its pool must run, too.
///   - models: what the gateway serves; it follows them.
///   - development: adds what devices bring; nil in production.
///   - metrics: where the gateway's metrics are kept.
///   - runsSequencer: whether this process stands for election as the sequencer. At least one process must.
///   - certificate: for TLS; nil without. It's among the services.
///   - drainDelay: how long the gateway goes on, not ready, when it is asked to end.
///   - redis: where ticks are told of, where PostgreSQL's notifications don't come through; nil for PostgreSQL.
///   - whenRunning: gets the port as soon as the server accepts connections.
/// - Throws: when the database has no tables yet or cannot be reached.
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
    // Said at the start and not when the first device connects.
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
