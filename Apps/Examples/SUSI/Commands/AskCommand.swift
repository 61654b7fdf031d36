import ArgumentParser
import Foundation

struct AskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "Asks the server and prints the answer.",
        discussion: """
            The question is stored before it's sent. If the server can't be reached, it stays unsent: 'susi retry' \
            sends it again.
            """)

    @Argument(help: "The question.")
    var text: String

    @OptionGroup var server: ServerOptions
    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        guard !text.allSatisfy(\.isWhitespace) else { throw SusiError("The question is empty.") }
        guard text.utf8.count <= ChatStore.maximumQuestionByteCount else {
            throw SusiError("The question has more than \(ChatStore.maximumQuestionByteCount) bytes.")
        }
        let client = try server.client()
        let conversation = Conversation(store: try ChatStore(folder: try data.folder), server: client)
        try await conversation.send(text, question: try conversation.store.ask(text, at: .now))
    }
}
