import AdminService
import ArgumentParser
import TomboloHTTP
import TomboloServerModel

/// Runs the admin server, without its purge, until standard input ends.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "admin", shouldDisplay: false)

    func run() async throws {
        let process = try await HTTPServerProcess("admin", portVariable: AdminServer.portVariable)
        // Requests are kept in the database, as by any admin server with default settings.
        guard let requests = KeptRequests(RequestRetention(), pool: process.pool) else { return }
        let writing = Task { try await RequestWriterService(requests, logger: process.logger).run() }
        defer { writing.cancel() }
        try await process.run(
            buildAdminApplication(
                host: process.configuration.host, port: 0, pool: process.pool, rules: process.models.liveRules(),
                models: process.models, authenticator: process.authenticator, limits: process.configuration.limits,
                keptRequests: requests, logger: process.logger, whenRunning: { HTTPServerProcess.say(port: $0) }))
    }
}
