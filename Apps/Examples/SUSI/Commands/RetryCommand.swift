import ArgumentParser
import Tombolo
import Foundation

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Sends the questions that haven't reached the server, oldest first.")

    @OptionGroup var server: ServerOptions
    @OptionGroup var data: DataOptions

    @MainActor
    func run() async throws {
        let client = try server.client()
        let conversation = Conversation(store: try ChatStore(folder: try data.folder), server: client)
        // Copied to values, because answering changes which questions match.
        let unsent = conversation.store.messages.where { $0.isSent == false }.map { ($0.message, $0._id) }
        for (text, question) in Array(unsent) { try await conversation.send(text, question: question) }
    }
}
