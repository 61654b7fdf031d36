import AdminService
import ArgumentParser
import Foundation
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloServerModel
import UnixSignals

/// The admin server, as `admin-server` runs it but for its purge, until the standard input ends.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "admin", shouldDisplay: false)

    func run() async throws {
        let configuration = try ServerConfiguration(
            portVariable: AdminServer.portVariable, defaultPort: 0, host: "127.0.0.1", port: 0)
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "admin")
        logger.logLevel = .warning
        let pool = PostgresPool(configuration: configuration.database, logger: logger)
        let models = try await ServerModels.load(pool)
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret),
            grants: { models.grants })
        let server = buildAdminApplication(
            host: configuration.host, port: 0, pool: pool, rules: models.liveRules(), models: models,
            authenticator: authenticator, limits: configuration.limits, logger: logger
        ) { Lines.say("port \($0)") }
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    DatabaseService(pool),
                    ModelFollower(models, configuration: configuration.database, logger: logger), server,
                ], gracefulShutdownSignals: [.sigterm], logger: logger))
        let lines = Lines.received()
        Task {
            for await _ in lines {}
            await group.triggerGracefulShutdown()
        }
        try await group.run()
    }
}
