import ArgumentParser
import Foundation

/// `demo`: presents the product in a minute.
@main
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Shows Tombolo in a minute: PostgreSQL, the servers, and two devices as separate processes.",
        discussion: """
            'make demo' runs it with a throwaway PostgreSQL. On its own, it needs an empty database in
            TOMBOLO_DATABASE_URL, the same database as the servers' roles in TOMBOLO_GATEWAY_DATABASE_URL,
            TOMBOLO_ADMIN_DATABASE_URL and TOMBOLO_TICKETS_DATABASE_URL, this project's executables beside
            it, and the tools psql and sqlite3.
            It ends with 'demo: ok' and exit code 0, or says what differed and ends with another code.
            """)

    @Option(help: "An Open Event export to import. Default: ../shared/data/open-event/OSCON17 or the sample.")
    var export: String?

    func run() async throws {
        let stage: Stage
        do {
            stage = try await Stage.build(export: export)
        } catch {
            say("demo: couldn't start: \(error)")
            throw ExitCode(2)
        }
        do {
            try await Show(stage: stage).run()
            await stage.end()
            say("\ndemo: ok")
        } catch {
            await stage.end()
            say("\ndemo: failed: \(error)")
            throw ExitCode.failure
        }
    }
}
