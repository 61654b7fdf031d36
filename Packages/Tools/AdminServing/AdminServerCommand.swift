import AdminPanel
import AdminService
import ArgumentParser
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloMetrics
import TomboloMigration
import TomboloServerModel
import UnixSignals

/// The command line of an admin server.
struct AdminServerCommand<Program: AdminServerProgram>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Program.name,
            abstract: "Serves the admin panel, JSON:API for every class, and the trash.",
            discussion: AdminServerHelp.discussion)
    }

    @Option(help: "The address to listen on; overrides TOMBOLO_HOST.")
    var host: String?

    @Option(help: "The port to listen on, 0 for a free one; overrides TOMBOLO_ADMIN_PORT.")
    var port: Int?

    func run() async throws {
        let configuration: ServerConfiguration
        let environment: AdminEnvironment
        do {
            configuration = try ServerConfiguration(
                portVariable: AdminServer.portVariable, defaultPort: AdminServer.defaultPort, host: host, port: port)
            environment = try AdminEnvironment()
        } catch {
            throw ValidationError(error.description)
        }
        var logger = Logger(label: "admin")
        logger.logLevel = configuration.logLevel
        let certificate = try configuration.loadCertificate(logger: logger)
        let database = try await configuration.findDatabase(
            connections: PostgresPool.Options.defaultMaximumConnections + 3,
            needing: [ServerConfiguration.listeningNeed], logger: logger)
        let pool = PostgresPool(configuration: database, logger: logger)
        let models = try await DatabaseRole.admin.loadModels(pool, logger: logger)
        let settings = environment.settings
        try await settings.refresh(pool, logger: logger)
        let mail = environment.mailRoom(logger: logger)
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret),
            breached: try configuration.breachedPasswords.map { try BreachedPasswords(path: $0) }, mail: mail,
            secondFactor: { settings.current.secondFactor }, grants: { models.grants })
        let metrics = MetricRegistry.ofServer(pool)
        metrics.install()
        var options: [String: String] = [:]
        options[ServerConfiguration.hostVariable] = host
        options[AdminServer.portVariable] = port.map(String.init)
        let services = buildAdminServices(
            configuration, environment, additions: Program.additions, options: options, database: database,
            pool: pool, models: models, authenticator: authenticator, certificate: certificate, metrics: metrics,
            logger: logger
        ) { port in say("admin \(configuration.address(port: port))") }
        try await ServiceGroup(
            services: [DatabaseService(pool), mail]
                + [ModelFollower(models, configuration: database, logger: logger)] + services
                + configuration.metricsServices(metrics, logger: logger) { say("metrics \($0)") },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}
