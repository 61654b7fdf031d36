import Foundation
import Tombolo

/// Sends questions to a server.
@MainActor
struct Conversation {
    let store: ChatStore
    let server: SusiServer

    /// Sends a question that is in the store, and prints the answer. Without an answer, the question stays unsent.
    func send(_ text: String, question: ObjectId) async throws {
        let exchanges: [Exchange]
        let notes: Notes
        do {
            let answer = try await server.chat(text)
            (exchanges, notes) = try ExchangeDecoder.decode(answer, receivedAt: .now)
            guard !exchanges.isEmpty else { throw SusiError("The server's answer is empty.") }
        } catch {
            throw SusiError("\(error) The question is kept unsent: 'susi retry' sends it again.")
        }
        let replies = try store.answer(question, with: exchanges)
        Output.notes(notes, about: "answer")
        for message in replies { print(message.line) }
    }
}
