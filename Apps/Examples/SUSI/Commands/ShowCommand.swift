import ArgumentParser
import Tombolo

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints the conversation, a message on each line.",
        discussion: """
            A line has the date, who speaks, for answers the type of the action, and what is said; behind 'kept raw' \
            the action's JSON, where it was not understood as a whole. Long texts and rows are shortened.
            """)

    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        for message in try ChatStore(folder: try data.folder).messages { print(message.line) }
    }
}
