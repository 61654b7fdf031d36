import ArgumentParser
import Foundation

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds answers (chat.json) and histories (memory.json) from files.",
        discussion: """
            Each file is stored completely or not at all; a file that fails doesn't stop the others. What is already \
            there isn't added again: an exchange is recognised by its question, its dates and its actions.
            """)

    @Argument(help: "JSON files as the server sends them.")
    var files: [String]

    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        let importer = Importer(store: try ChatStore(folder: try data.folder))
        var hasFailed = false
        for file in files {
            do {
                try importer.add(try AnswerFile.read(file), name: file, receivedAt: .now)
            } catch {
                Output.error(error)
                hasFailed = true
            }
        }
        if hasFailed { throw ExitCode.failure }
    }
}
