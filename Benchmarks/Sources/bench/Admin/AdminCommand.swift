import AdminService
import ArgumentParser
import TomboloHTTP
import TomboloServerModel

/// The admin server, without its purge, until the standard input ends.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "admin", shouldDisplay: false)

    func run() async throws {
        let process = try await HTTPServerProcess("admin", portVariable: AdminServer.portVariable)
        // Kept in the database, as by any admin server that isn't told otherwise.
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
