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
                A record that breaks a rule (a session that ends before it begins, a speaker without a name) is set \
                aside, and the rest is imported. A link that names nothing, nothing that is there, or a record that was \
                set aside, is left out. Each is printed with file, record, field and reason, and both are counted. \
                Mend the files and import them again: only what changed is written. With --strict, any of these \
                refuses the whole export, as a fault of the event itself or a file that isn't JSON always does.

                The import is one transaction: it is done as a whole or not at all. Importing an export again changes \
                nothing, so that an import that was interrupted is simply repeated; a changed export brings its values \
                over what was edited since.

                Exit codes: 0 everything was imported, 1 nothing was, 2 some records or links were set aside and the \
                rest was imported, 64 wrong usage. --check exits in the same way.
                """)

        /// The exit code if anything was set aside.
        static let incompleteCode = ExitCode(2)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The folder that has event.json.", completion: .directory)
        var path: String

        @Flag(help: "Only read and check the files; needs no database.")
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
