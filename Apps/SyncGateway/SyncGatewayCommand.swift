import ArgumentParser
import DevelopmentSupport
import GatewayService
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloMetrics
import TomboloMigration
import TomboloPostgresStore
import TomboloServerModel
import TomboloTraceExport
import UnixSignals

/// `sync-gateway`: synchronises devices with PostgreSQL.
@main
struct SyncGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync-gateway",
        abstract: "Keeps devices and PostgreSQL in sync: logins over HTTP, synchronisation over a WebSocket at /sync.",
        discussion: """
            ENVIRONMENT
            \(ServerVariable.help(GatewayServer.variables + [tracing]))

            Any number of gateways can run on one database. One of them is elected as the
            sequencer, which numbers the changes; if it stops, another takes over within
            a second. A gateway that gets SIGTERM disconnects its devices within a second,
            and they connect to another: see docs/operations.md.

            Run 'migration-tool apply' before the first start.
            """)

    private static let tracing = ServerVariable(
        OTLPConfiguration.endpointVariable, .monitoring,
        does: "a trace collector, such as http://127.0.0.1:4318; docs/observability.md has the other OTEL_ variables",
        without: "nothing is traced")

    @Option(help: "The address to listen on.")
    var host: String?

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port: Int?

    @Flag(inversion: .prefixedNo, help: "Stand for election as the sequencer.")
    var sequencer = true

    @Flag(help: "Run only the sequencer.")
    var sequencerOnly = false

    @OptionGroup(title: "Development")
    var development: DevelopmentOptions

    func run() async throws {
        let configuration = try ServerConfiguration(
            portVariable: GatewayServer.portVariable, defaultPort: GatewayServer.defaultPort, host: host, port: port)
        var logger = Logger(label: "gateway")
        logger.logLevel = configuration.logLevel
        let ticks = try TicksAddress.read()
        let runsSequencer = sequencer || sequencerOnly
        let hearsTicks = ticks == nil && !sequencerOnly
        let database = try await configuration.findDatabase(
            connections: GatewayServer.maximumDatabaseConnections(
                servesDevices: !sequencerOnly, runsSequencer: runsSequencer, hearsTicks: hearsTicks),
            needing: GatewayServer.sessionNeeds(
                runsSequencer: runsSequencer, hearsTicks: hearsTicks, isDeveloping: development.development),
            logger: logger)
        var services: [any Service]
        let metrics: MetricRegistry
        if sequencerOnly {
            let pool = PostgresPool(
                configuration: database, options: .init(maximumConnections: 1), logger: logger)
            do {
                try await DatabaseRole.gateway.check(pool)
                await pool.shutdown()
            } catch {
                await pool.shutdown()
                throw error
            }
            let sequencer = SequencerService(configuration: database, redis: ticks, logger: logger)
            metrics = MetricRegistry.ofServer(pool)
            sequencer.collect(into: metrics)
            services = [sequencer]
        } else {
            let certificate = try configuration.loadCertificate(logger: logger)
            let pool = PostgresPool(
                configuration: database,
                options: .init(maximumConnections: GatewayServer.databaseConnections), logger: logger)
            let development = try await development.mode(
                host: configuration.host, database, logger: logger)
            let standby = configuration.standby.map {
                PostgresStandby(configuration: $0, connections: Gateway.maximumConcurrentReads, logger: logger)
            }
            let models = try await DatabaseRole.gateway.loadModels(
                pool, isOpen: development != nil, logger: logger)
            metrics = MetricRegistry.ofServer(pool)
            let mail = try configuration.mailRoom(logger: logger)
            let authenticator = await Authenticator(
                pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret),
                breached: try configuration.breachedPasswords.map { try BreachedPasswords(path: $0) }, mail: mail,
                grants: { models.grants })
            services =
                [DatabaseService(pool)] + (standby.map { [DatabaseService($0.pool)] } ?? []) + (mail.map { [$0] } ?? [])
                + (try await buildGatewayServices(
                    host: configuration.host, port: configuration.port, pool: pool, standby: standby,
                    models: models, authenticator: authenticator, development: development, runsSequencer: sequencer,
                    limits: configuration.limits, certificate: certificate, drainDelay: configuration.drainDelay,
                    redis: ticks, metrics: metrics, logger: logger
                ) { port in say("gateway \(configuration.address(port: port))") })
        }
        metrics.install()
        if let traces = try OTLPConfiguration.read(service: "sync-gateway") {
            let tracer = OTLPTracer(traces, logger: logger)
            tracer.install()
            services.insert(tracer, at: 0)
        }
        services += configuration.metricsServices(metrics, logger: logger) { say("metrics \($0)") }
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}
