import Foundation
import Logging
import PostgresClient
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloServerModel
import UnixSignals

/// One of the platform's HTTP servers, run like its own program, until standard input ends. It prints its port.
struct HTTPServerProcess {
    let configuration: ServerConfiguration
    let pool: PostgresPool
    let models: ServerModels
    let authenticator: Authenticator
    let logger: Logger

    init(_ name: String, portVariable: String) async throws {
        configuration = try ServerConfiguration(
            portVariable: portVariable, defaultPort: 0, host: "127.0.0.1", port: 0)
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: name)
        logger.logLevel = .warning
        self.logger = logger
        pool = PostgresPool(configuration: configuration.database, logger: logger)
        let models = try await ServerModels.load(pool)
        self.models = models
        authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: configuration.tokenSecret), grants: { models.grants })
    }

    func run(_ server: some Service) async throws {
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

    static func say(port: Int) { Lines.say("port \(port)") }
}
