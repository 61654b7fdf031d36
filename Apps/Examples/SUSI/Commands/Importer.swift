import Foundation

/// Stores a document from the server, completely or not at all.
struct Importer {
    let store: ChatStore

    /// - Parameter name: the document's name for messages to the user.
    func add(_ data: Data, name: String, receivedAt: Date) throws {
        let (exchanges, notes) = try decode(data, name: name, receivedAt: receivedAt)
        let added = try store.add(exchanges)
        Output.notes(notes, about: name)
        let known = exchanges.count - added
        print("\(LineText.line(name)): \(added) added\(known > 0 ? ", \(known) already there" : "")")
    }

    private func decode(_ data: Data, name: String, receivedAt: Date) throws -> ([Exchange], Notes) {
        do {
            return try ExchangeDecoder.decode(data, receivedAt: receivedAt)
        } catch {
            throw SusiError("Can't import '\(name)': \(error)")
        }
    }
}
