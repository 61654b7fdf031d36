import ArgumentParser
import ConferenceSetup
import Foundation
import OpenEventImport
import ToolSupport

/// `conference sample`
struct Sample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load sample data: an event, tickets, orders, demo accounts.",
        discussion: """
            The event is a real conference if its export is in ../shared/data/open-event/OSCON17 beside the working \
            folder, otherwise a small one that comes with this tool. Can be repeated.

            The demo accounts have well-known passwords: use this only to try things out. A database on another \
            machine is refused without --allow-remote.
            """)

    @OptionGroup var database: DatabaseOptions

    @Option(help: "An Open Event export to use as the event instead.", completion: .directory)
    var export: String?

    @Flag(help: "Also load a conference of 200 sessions and 5,000 users, and a trash.")
    var large = false

    @Flag(help: "Load into a database on another machine, including the well-known passwords.")
    var allowRemote = false

    func run() async throws {
        let configuration = try database.configuration()
        guard allowRemote || DatabaseOptions.isLocal(configuration) else {
            throw ToolError(
                "The database is on another machine, and the sample accounts have well-known passwords.",
                fix: "Use a local database, or pass --allow-remote if nobody else can reach the services.")
        }
        let path = try export ?? Self.defaultExport()
        let export = try OpenEventImporter.read(path)
        Report.print(setAside: export.setAside)
        let large = large
        try await database.withPool { pool in
            let report = try await SampleData.load(export, pool)
            Report.print(report.event)
            print("\(report.ticketCount) kinds of tickets, \(report.orderCount) orders.")
            var users = report.users
            if large {
                let large = try await SampleData.loadLarge(pool)
                print("The large event \(large.eventID) \(large.isNew ? "was loaded" : "was already there").")
                users += large.users
            }
            print("Accounts:")
            for user in users { print("  \(user.email)  password \(user.password)  (\(user.purpose))") }
        }
    }

    /// A real conference if there is one, otherwise the one that comes with this tool: in its resources, or in the
    /// clone that is the working directory.
    static func defaultExport() throws -> String {
        let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        let tool = (Bundle.main.executableURL ?? here).resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [
            here.appendingPathComponent("../shared/data/open-event/OSCON17"),
            tool.appendingPathComponent("Tombolo_ConferenceTool.resources/Samples/TideConf"),
            tool.appendingPathComponent("Samples/TideConf"),
            here.appendingPathComponent("Apps/Conference/Tool/Samples/TideConf"),
        ].map(\.standardizedFileURL.path)
        let found = candidates.first { FileManager.default.fileExists(atPath: $0 + "/event.json") }
        guard let found else {
            throw ToolError(
                "Can't find the sample event that comes with this tool.",
                fix: "Put the folder Samples next to the tool, or pass --export PATH.")
        }
        return found
    }
}
