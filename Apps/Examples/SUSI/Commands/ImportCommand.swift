import ArgumentParser
import Foundation

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds answers (chat.json) and histories (memory.json) from files.",
        discussion: """
            Each file is stored as a whole or not at all; the other files are imported nevertheless. What is there \
            already is not added again: an exchange is known by its question, its dates and its actions.
            """)

    @Argument(help: "Files with JSON as the server sends it.")
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
