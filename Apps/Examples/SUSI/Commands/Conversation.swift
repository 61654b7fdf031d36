import Foundation
import Tombolo

/// Questions to a server.
@MainActor
struct Conversation {
    let store: ChatStore
    let server: SusiServer

    /// Sends a question that the store has, and prints the answer. The question stays unsent where there is none.
    func send(_ text: String, question: ObjectId) async throws {
        let exchanges: [Exchange]
        let notes: Notes
        do {
            let answer = try await server.chat(text)
            (exchanges, notes) = try ExchangeDecoder.decode(answer, receivedAt: .now)
            guard !exchanges.isEmpty else { throw SusiError("The server's answer is empty.") }
        } catch {
            throw SusiError("\(error) The question is kept as unsent: 'susi retry' sends it again.")
        }
        let replies = try store.answer(question, with: exchanges)
        Output.notes(notes, about: "answer")
        for message in replies { print(message.line) }
    }
}
