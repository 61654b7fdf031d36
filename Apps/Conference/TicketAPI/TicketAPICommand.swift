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
            \(ServerVariable.help(TicketAPI.variables))

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
