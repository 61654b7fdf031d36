import ArgumentParser
import OpenEventImport

/// `migration-tool import`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import data from other systems.", subcommands: [OpenEvent.self])

    /// `migration-tool import open-event`
    struct OpenEvent: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open-event", abstract: "Import an Open Event export: event, programme, people, sponsors.",
            discussion: """
                All or nothing. Importing an export again changes nothing, so that an import that was interrupted is \
                simply repeated; a changed export brings its values over what was edited since.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The folder that has event.json.", completion: .directory)
        var path: String

        @Flag(help: "Only read and check the files; needs no database.")
        var check = false

        func run() async throws {
            let export = try OpenEventImporter.read(path)
            Report.print(notes: export.notes)
            if check {
                print("\(export.eventName) can be imported:")
                for part in export.parts { print("  \(part.className): \(part.rows.count)") }
                return
            }
            try await database.withConnection { connection in
                let summary = try await OpenEventImporter.write(export, to: connection, progress: Report.progress)
                Report.print(summary)
            }
        }
    }
}
