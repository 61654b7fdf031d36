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
            Environment:
              TOMBOLO_DATABASE_URL   the database, such as postgresql://user:password@host/name (required); the user \
            needs the rights of the role tombolo_gateway, or owns the tables in development mode
              TOMBOLO_JWT_SECRET     the key of access tokens, at least 32 bytes, the same on every server (required)
              TOMBOLO_GATEWAY_PORT   the port, \(GatewayServer.defaultPort) by default; 0 picks a free one
              TOMBOLO_HOST           the address to listen on, 127.0.0.1 by default
              TOMBOLO_TRUSTED_PROXIES  proxies in front of the gateway, such as 10.0.0.0/8, 2001:db8::7. \
            X-Forwarded-For and Forwarded are trusted only from these; they must set one of the two, or speak the PROXY \
            protocol
              TOMBOLO_PROXY_PROTOCOL  on: connections from trusted proxies start with a PROXY protocol header, \
            version 1 or 2, before TLS; one without it is refused, and so is a header from anybody else. off by default
              TOMBOLO_CONNECTIONS_PER_ADDRESS  concurrent connections per address, \
            \(Gateway.maximumConnectionCountOfAddress) by default
              TOMBOLO_TLS_CERTIFICATE, TOMBOLO_TLS_KEY  PEM files, for TLS without a proxy: the certificate with its \
            chain, and the key. They can be replaced while the gateway runs; SIGHUP reloads them at once
              TOMBOLO_DRAIN_DELAY    how many seconds to keep running after SIGTERM while GET /ready answers 503, so \
            that a load balancer notices; 0 by default
              TOMBOLO_TICKS_URL      redis://user:password@host:6379, or rediss://… with TLS: gateways learn of \
            changes there instead of through LISTEN, which PgBouncer doesn't support in transaction mode. The same on \
            every gateway
              TOMBOLO_TICKS_CA       a PEM file with the only authorities that may have signed that server's certificate
              TOMBOLO_STANDBY_URL    a hot standby of the database. Devices' first batches are read from it while \
            it's up to date, otherwise from the database itself
              TOMBOLO_MAIL           how mails are sent: folder:/path, https://… or command:/usr/sbin/sendmail -t -i
              TOMBOLO_MAIL_SECRET    the bearer token for requests to an https address
              TOMBOLO_TRANSLATIONS   a folder with files such as de.po: further languages of mails; the same as the admin \
            server's
              TOMBOLO_BREACHED_PASSWORDS  a sorted file of SHA-1 hashes of passwords to refuse
              TOMBOLO_METRICS_PORT   serve GET /metrics for Prometheus on this port, without a token; 0 picks a free one
              TOMBOLO_METRICS_HOST   the address for it, 127.0.0.1 by default: only the operator's network should reach it
              OTEL_EXPORTER_OTLP_ENDPOINT  a trace collector, such as http://127.0.0.1:4318; without it, nothing is \
            traced. docs/observability.md has the other OTEL_ variables
              TOMBOLO_LOG_LEVEL      trace, debug, info, notice, warning, error, critical

            Any number of gateways can run on one database. One of them is elected as the sequencer, which numbers the
            changes; if it stops, another takes over within a second. A gateway that gets SIGTERM disconnects its
            devices within a second, and they connect to another; see docs/operations.md. Run 'migration-tool apply'
            before the first start.
            """)

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
