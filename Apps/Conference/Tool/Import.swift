import ArgumentParser
import OpenEventImport
import ToolSupport

/// `conference import`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import data from other systems.", subcommands: [OpenEvent.self])

    /// `conference import open-event`
    struct OpenEvent: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open-event", abstract: "Import an Open Event export: event, programme, people, sponsors.",
            discussion: """
                A record that breaks a rule (a session that ends before it starts, a speaker without a name) is set \
                aside, and the rest is imported. A link is left out if it's malformed or its record doesn't exist or \
                was set aside. Each is printed with file, record, field and reason, and both are counted. Fix the \
                files and import them again: only changes are written. With --strict, any of these refuses the whole \
                export, as a mistake in the event itself or a file that isn't JSON always does.

                The import is one transaction: it's done completely or not at all. Importing the same export again \
                changes nothing, so an interrupted import can be repeated. A changed export overwrites edits made since.

                Exit codes: 0 everything was imported, 1 nothing was, 2 some records or links were set aside and the \
                rest was imported, 64 wrong usage. --check uses the same codes.
                """)

        /// The exit code if anything was set aside.
        static let incompleteCode = ExitCode(2)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The folder that has event.json.", completion: .directory)
        var path: String

        @Flag(help: "Only read and check the files. Needs no database.")
        var check = false

        @Flag(help: "Import nothing if any record or link would be set aside.")
        var strict = false

        func run() async throws {
            let export = try OpenEventImporter.read(path, isStrict: strict)
            Report.print(notes: export.notes)
            Report.print(setAside: export.setAside)
            if check {
                print("\(export.eventName) can be imported:")
                for part in export.parts {
                    let setAside = part.setAsideCount > 0 ? ", \(part.setAsideCount) set aside" : ""
                    print("  \(part.className): \(part.rows.count)\(setAside)")
                }
            } else {
                try await database.withConnection { connection in
                    let summary = try await OpenEventImporter.write(export, to: connection, progress: Report.progress)
                    Report.print(summary)
                }
            }
            if !export.setAside.isEmpty { throw Self.incompleteCode }
        }
    }
}
