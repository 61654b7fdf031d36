import AdminService
import AdminServing
import ArgumentParser
import DevelopmentSupport
import Foundation
import GatewayService
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloMetrics
import TomboloServerModel
import UnixSignals

/// `tombolo run`: all servers in one process, for development.
struct RunServers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a gateway and an admin server in one process, for development. 'make up' starts it.",
        discussion: """
            ENVIRONMENT
            \(ServerVariable.help([database, .tokenSecret, gatewayPort, adminPort]))
              TOMBOLO_MAIL, TOMBOLO_MAIL_SECRET, TOMBOLO_BREACHED_PASSWORDS
                                    as for sync-gateway
              TOMBOLO_BACKUPS, TOMBOLO_BACKUP_URL, TOMBOLO_BACKUP_EVERY,
              TOMBOLO_BACKUP_KEEP, TOMBOLO_RESTORE_URL, TOMBOLO_SQL_URL,
              TOMBOLO_MIGRATION_URL, TOMBOLO_MAP_TILES, TOMBOLO_MAP_ATTRIBUTION,
              TOMBOLO_TRANSLATIONS, TOMBOLO_THUMBNAILS
                                    as for admin-server

            In production, run sync-gateway and admin-server as separate processes, each
            with its own database user.
            """)

    private static let database = ServerVariable(
        ServerConfiguration.databaseVariable, .database, .database,
        does: "the database, whose tables the user owns. 'make up' creates one", without: "required")
    private static let gatewayPort = ServerVariable.port(
        GatewayServer.portVariable, default: GatewayServer.defaultPort)
    private static let adminPort = ServerVariable.port(AdminServer.portVariable, default: AdminServer.defaultPort)

    @Flag(help: "Print only the servers' addresses, and warnings.")
    var quiet = false

    @OptionGroup(title: "Development")
    var development: DevelopmentOptions

    @Option(help: "A file with lines to show with the addresses, such as how to log in.")
    var notes: String?

    func run() async throws {
        var notes = try notes.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        func configuration(_ variable: String, _ port: Int) throws -> ServerConfiguration {
            try ServerConfiguration(portVariable: variable, defaultPort: port)
        }
        let gateway = try configuration(GatewayServer.portVariable, GatewayServer.defaultPort)
        let admin = try configuration(AdminServer.portVariable, AdminServer.defaultPort)
        // A free port is only known once the server listens.
        let address = admin.port == 0 ? nil : try AdminAddress(admin.address(port: admin.port))
        let environment = try AdminEnvironment(defaults: SettingValues(address: address))
        let level = quiet ? Logger.Level.warning : gateway.logLevel
        func logger(_ label: String) -> Logger {
            var logger = Logger(label: label)
            logger.logLevel = level
            return logger
        }

        let database = try await gateway.findDatabase(
            connections: GatewayServer.maximumDatabaseConnections(
                servesDevices: true, runsSequencer: true, hearsTicks: true),
            needing: GatewayServer.sessionNeeds(
                runsSequencer: true, hearsTicks: true, isDeveloping: self.development.development),
            logger: logger("database"))
        let pool = PostgresPool(
            configuration: database, options: .init(maximumConnections: GatewayServer.databaseConnections),
            logger: logger("database"))
        let development = try await development.mode(
            host: gateway.host, database, logger: logger("gateway"))
        let models = try await ServerModels.load(pool, isOpen: development != nil)
        let settings = environment.settings
        await settings.follow(pool, logger: logger("admin"))
        let mail = environment.mailRoom(logger: logger("mail"))
        if case .folder(let folder)? = gateway.mail {
            notes += "mails to users   files in \(folder.path(percentEncoded: false))\n"
        }
        let breached = try gateway.breachedPasswords.map { try BreachedPasswords(path: $0) }
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: gateway.tokenSecret),
            breached: breached, mail: mail,
            grants: { models.grants })
        // Devices can't provide a second factor.
        let adminAuthenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: admin.tokenSecret), breached: breached, mail: mail,
            secondFactor: { settings.current.secondFactor }, grants: { models.grants })
        let metrics = MetricRegistry.ofServer(pool)
        metrics.install()
        let board = AddressBoard(expected: 2, quiet: quiet, notes: notes)
        var services: [any Service] = [DatabaseService(pool), mail]
        services += try await buildGatewayServices(
            host: gateway.host, port: gateway.port, pool: pool, models: models,
            authenticator: authenticator, development: development, limits: gateway.limits, metrics: metrics,
            logger: logger("gateway")
        ) { port in await board.add("gateway", gateway.host, port) }
        services += buildAdminServices(
            admin, environment, database: database, pool: pool, models: models, authenticator: adminAuthenticator,
            showsDecisions: development != nil, metrics: metrics, logger: logger("admin")
        ) { port in await board.add("admin", admin.host, port) }
        services += gateway.metricsServices(metrics, logger: logger("metrics")) { say("metrics \($0)") }
        let group = ServiceGroup(
            configuration: .init(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger("tombolo")))
        try await group.run()
    }
}
