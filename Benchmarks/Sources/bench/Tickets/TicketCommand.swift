import ArgumentParser
import TomboloHTTP
import TomboloServerModel
import TicketService

/// Runs the ticket API until standard input ends.
struct TicketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tickets", shouldDisplay: false)

    func run() async throws {
        let process = try await HTTPServerProcess("tickets", portVariable: TicketAPI.portVariable)
        try await process.run(
            buildTicketApplication(
                host: process.configuration.host, port: 0, pool: process.pool, rules: process.models.liveRules(),
                authenticator: process.authenticator, limits: process.configuration.limits, logger: process.logger,
                whenRunning: { HTTPServerProcess.say(port: $0) }))
    }
}
