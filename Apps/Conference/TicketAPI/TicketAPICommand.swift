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
                                    tombolo_tickets, which 'conference setup' makes
              TOMBOLO_JWT_SECRET    the key of access tokens, the same on all
                                    servers, at least 32 bytes (required).
                                    Make one with: openssl rand -hex 32
              TOMBOLO_HOST          the address to listen on (127.0.0.1)
              TOMBOLO_TICKETS_PORT  the port to listen on, 0 for a free one (8082)
              TOMBOLO_TRUSTED_PROXIES
                                    proxies before this server, such as
                                    10.0.0.0/8, 2001:db8::7. Only from these is
                                    X-Forwarded-For or Forwarded believed; they
                                    must set one of the two, or speak the PROXY
                                    protocol
              TOMBOLO_PROXY_PROTOCOL
                                    on: each connection of a trusted proxy
                                    begins with a header of the PROXY protocol,
                                    before TLS, and no other one does (off)
              TOMBOLO_CONNECTIONS_PER_ADDRESS
                                    connections of one address at a time (200)
              TOMBOLO_TLS_CERTIFICATE, TOMBOLO_TLS_KEY
                                    PEM files, for HTTPS: the certificate with its
                                    chain, and the key. They may be replaced while
                                    the server runs; SIGHUP reads them at once
              TOMBOLO_METRICS_PORT  serve GET /metrics for Prometheus on this port,
                                    without a token; 0 takes a free one
              TOMBOLO_METRICS_HOST  the address for it (127.0.0.1): only the
                                    operator's network may reach it
              TOMBOLO_LOG_LEVEL     trace, debug, info, notice, warning, error or
                                    critical (info)

            ROUTES
              GET  /events/ID          the public page of a published event
              GET  /events/ID/tickets  those that the caller may see, in order
              GET  /events/ID/sessions those that the caller may see, by start
              POST /tickets/ID/move    {"before": ID}, {"after": ID},
                                       {"first": true} or {"last": true}
              POST /login              {"email": …, "password": …}
              GET  /health, /ready     for supervisors

            EXAMPLE
              curl -s localhost:8082/tickets/$TICKET/move -H "Authorization: Bearer $TOKEN" \\
                -H 'Content-Type: application/json' -d '{"first": true}'

            SIGTERM and Ctrl-C stop it: requests under way are answered first.
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
