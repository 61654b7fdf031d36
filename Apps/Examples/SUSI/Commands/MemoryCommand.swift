import ArgumentParser
import Foundation

struct MemoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "Adds the history that the server keeps, from the server or from a file.",
        discussion: "The whole history is stored, or none of it. What is already there isn't added again.")

    @Argument(help: "A file with the history (memory.json), instead of the server.")
    var file: String?

    @OptionGroup var server: ServerOptions
    @OptionGroup var data: DataOptions

    func validate() throws {
        guard file == nil || server.server == nil else {
            throw ValidationError("Pass a file or --server, not both.")
        }
    }

    @MainActor
    func run() async throws {
        let history: Data
        if let file {
            history = try AnswerFile.read(file)
        } else {
            history = try await server.client().memory()
        }
        let importer = Importer(store: try ChatStore(folder: try data.folder))
        try importer.add(history, name: file ?? "memory", receivedAt: .now)
    }
}
