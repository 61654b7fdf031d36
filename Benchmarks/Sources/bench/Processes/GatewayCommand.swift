import ArgumentParser
import Foundation
import GatewayService
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloServerModel
import UnixSignals

/// Runs the gateway, like `sync-gateway`, until standard input ends.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "gateway", shouldDisplay: false)

    @Flag(help: "Don't log warnings.")
    var quiet = false

    func run() async throws {
        let configuration = try ServerConfiguration(
            portVariable: GatewayServer.portVariable, defaultPort: 0, host: "127.0.0.1", port: 0)
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "gateway")
        logger.logLevel = quiet ? .critical : .warning
        let pool = PostgresPool(
            configuration: configuration.database,
            options: .init(maximumConnections: GatewayServer.databaseConnections), logger: logger)
        let models = try await ServerModels.load(pool)
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret),
            grants: { models.grants })
        let services: [any Service] =
            [DatabaseService(pool)]
            + (try await buildGatewayServices(
                host: configuration.host, port: 0, pool: pool, models: models, authenticator: authenticator,
                logger: logger
            ) { Lines.say("port \($0)") })
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm], logger: logger))
        let lines = Lines.received()
        Task {
            for await _ in lines {}
            await group.triggerGracefulShutdown()
        }
        try await group.run()
    }
}
