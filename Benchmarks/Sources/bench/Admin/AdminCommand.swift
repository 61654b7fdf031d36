import AdminService
import ArgumentParser
import TomboloHTTP
import TomboloServerModel

/// The admin server, without its purge, until the standard input ends.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "admin", shouldDisplay: false)

    func run() async throws {
        let process = try await HTTPServerProcess("admin", portVariable: AdminServer.portVariable)
        try await process.run(
            buildAdminApplication(
                host: process.configuration.host, port: 0, pool: process.pool, rules: process.models.liveRules(),
                models: process.models, authenticator: process.authenticator, limits: process.configuration.limits,
                logger: process.logger, whenRunning: { HTTPServerProcess.say(port: $0) }))
    }
}
