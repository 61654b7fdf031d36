import ArgumentParser
import Tombolo

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints the conversation, one message per line.",
        discussion: """
            A line has the date, the speaker, the type of the action for answers, and the text. If the action wasn't \
            fully understood, its JSON follows after 'kept raw'. Long texts and rows are shortened.
            """)

    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        for message in try ChatStore(folder: try data.folder).messages { print(message.line) }
    }
}
