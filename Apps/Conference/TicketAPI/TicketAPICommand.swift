import ArgumentParser
import ConferenceSetup
import Foundation
import Logging
import PostgresClient
import ServiceLifecycle
import TicketService
import TomboloAuthentication
import TomboloHTTP
import TomboloMetrics
import TomboloMigration
import TomboloServerModel
import UnixSignals

@main
struct TicketAPICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ticket-api",
        abstract: "Serves the tickets of events in their order, lets organizers move them, and shows public pages.",
        discussion: """
            ENVIRONMENT
              TOMBOLO_DATABASE_URL  postgresql://USER:PASSWORD@HOST:PORT/DATABASE
                                    (required). USER has the rights of the role
                                    tombolo_tickets, which 'conference setup' creates
              TOMBOLO_JWT_SECRET    the key of access tokens, the same on all
                                    servers, at least 32 bytes (required).
                                    Make one with: openssl rand -hex 32
              TOMBOLO_HOST          the address to listen on (127.0.0.1)
              TOMBOLO_TICKETS_PORT  the port to listen on, 0 for a free one (8082)
              TOMBOLO_TRUSTED_PROXIES
                                    proxies in front of this server, such as
                                    10.0.0.0/8, 2001:db8::7. X-Forwarded-For and
                                    Forwarded are trusted only from these; they
                                    must set one of the two, or speak the PROXY
                                    protocol
              TOMBOLO_PROXY_PROTOCOL
                                    on: connections from trusted proxies, and no
                                    others, start with a PROXY protocol header,
                                    before TLS (off)
              TOMBOLO_CONNECTIONS_PER_ADDRESS
                                    concurrent connections per address (200)
              TOMBOLO_TLS_CERTIFICATE, TOMBOLO_TLS_KEY
                                    PEM files, for HTTPS: the certificate with its
                                    chain, and the key. They can be replaced while
                                    the server runs; SIGHUP reloads them at once
              TOMBOLO_METRICS_PORT  serve GET /metrics for Prometheus on this port,
                                    without a token; 0 picks a free one
              TOMBOLO_METRICS_HOST  the address for it (127.0.0.1): only the
                                    operator's network should reach it
              TOMBOLO_LOG_LEVEL     trace, debug, info, notice, warning, error or
                                    critical (info)

            ROUTES
              GET  /events/ID          the public page of a published event
              GET  /events/ID/tickets  tickets that the caller may see, in order
              GET  /events/ID/sessions sessions that the caller may see, by start
              POST /tickets/ID/move    {"before": ID}, {"after": ID},
                                       {"first": true} or {"last": true}
              POST /login              {"email": …, "password": …}
              GET  /health, /ready     for supervisors

            EXAMPLE
              curl -s localhost:8082/tickets/$TICKET/move -H "Authorization: Bearer $TOKEN" \\
                -H 'Content-Type: application/json' -d '{"first": true}'

            SIGTERM and Ctrl-C stop it, after it has answered requests in progress.
            """)

    @Option(help: "The address to listen on; overrides TOMBOLO_HOST.")
    var host: String?

    @Option(help: "The port to listen on, 0 for a free one; overrides TOMBOLO_TICKETS_PORT.")
    var port: Int?

    func run() async throws {
        let configuration: ServerConfiguration
        do {
            configuration = try ServerConfiguration(
                portVariable: TicketAPI.portVariable, defaultPort: TicketAPI.defaultPort, host: host, port: port)
        } catch {
            throw ValidationError(error.description)
        }
        var logger = Logger(label: "tickets")
        logger.logLevel = configuration.logLevel
        let certificate = try configuration.loadCertificate(logger: logger)
        let database = try await configuration.findDatabase(
            connections: PostgresPool.Options.defaultMaximumConnections + 1,
            needing: [ServerConfiguration.listeningNeed], logger: logger)
        let pool = PostgresPool(configuration: database, logger: logger)
        let models = try await Conference.ticketRole.loadModels(pool, logger: logger)
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret),
            grants: { models.grants })
        let metrics = MetricRegistry.ofServer(pool)
        metrics.install()
        var server = try buildTicketApplication(
            host: configuration.host, port: configuration.port, pool: pool, rules: models.liveRules(),
            authenticator: authenticator, limits: configuration.limits, metrics: metrics, logger: logger
        ) { port in say("tickets \(configuration.address(port: port))") }
        server.certificate = certificate
        let following: [any Service] = certificate.map { [$0] } ?? []
        try await ServiceGroup(
            services: [DatabaseService(pool)] + following + [
                ModelFollower(models, configuration: database, logger: logger), server,
            ] + configuration.metricsServices(metrics, logger: logger) { say("metrics \($0)") },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}
