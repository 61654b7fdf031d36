import Foundation
import Tombolo

/// The conversation in the file `susi.realm` in a folder. Each call that changes something is a single transaction.
struct ChatStore {
    static let fileName = "susi.realm"
    /// The longest question, because it is sent as part of a URL.
    static let maximumQuestionByteCount = 4 << 10

    private let realm: Realm

    /// Opens the conversation, or starts one.
    init(folder: URL) throws {
        do {
            // Only the user may read it, because what people ask is private.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SusiError(
                "Can't create the folder '\(folder.path)': \(error.localizedDescription). Choose another one with "
                    + "--data.")
        }
        realm = try Realm(
            configuration: Realm.Configuration(
                fileURL: folder.appending(path: Self.fileName), schemaVersion: 1, objectTypes: [Message.self]))
    }

    /// Every message by the date of its question, and messages of the same date by arrival.
    var messages: Results<Message> {
        realm.objects(Message.self).sorted(by: [
            SortDescriptor(keyPath: "queryDate"), SortDescriptor(keyPath: "position"),
        ])
    }

    /// Adds exchanges that aren't stored yet.
    /// - Returns: the number of exchanges that were added.
    func add(_ exchanges: [Exchange]) throws -> Int {
        try realm.write {
            var added = 0
            var position = nextPosition
            var seen: Set<String> = []
            for exchange in exchanges {
                guard seen.insert(exchange.identity).inserted, !isKnown(exchange.identity) else { continue }
                if !exchange.query.isEmpty {
                    let question = Message(asking: exchange.query, at: exchange.queryDate, position: position)
                    question.exchange = exchange.identity
                    question.answerDate = exchange.answerDate
                    realm.add(question)
                    position += 1
                }
                add(exchange, &position)
                added += 1
            }
            return added
        }
    }

    /// Stores a question that is about to be sent.
    /// - Returns: its key.
    func ask(_ text: String, at date: Date) throws -> ObjectId {
        try realm.write {
            let question = Message(asking: text, at: date, position: nextPosition)
            question.isSent = false
            realm.add(question)
            return question._id
        }
    }

    /// Stores the server's answer to a question.
    /// - Returns: the answer's messages.
    func answer(_ question: ObjectId, with exchanges: [Exchange]) throws -> [Message] {
        try realm.write {
            guard let message = realm.object(ofType: Message.self, forPrimaryKey: question) else {
                throw SusiError("The question was deleted while it was being answered: nothing was kept.")
            }
            message.isSent = true
            var position = nextPosition
            var replies: [Message] = []
            for (index, exchange) in exchanges.enumerated() {
                var exchange = exchange
                // The same answer with the same dates was given to another question. It still has to be stored for
                // this one.
                exchange.identity = freeIdentity(exchange.identity)
                if index == 0 {
                    message.exchange = exchange.identity
                    message.queryDate = exchange.queryDate
                    message.answerDate = exchange.answerDate
                }
                replies += add(exchange, &position)
            }
            return replies
        }
    }

    @discardableResult
    private func add(_ exchange: Exchange, _ position: inout Int) -> [Message] {
        let messages = exchange.replies.enumerated().map { Message($1, of: exchange, position: position + $0) }
        position += messages.count
        realm.add(messages)
        return messages
    }

    private var nextPosition: Int {
        (realm.objects(Message.self).sorted(byKeyPath: "position", ascending: false).first?.position ?? -1) + 1
    }

    private func isKnown(_ identity: String) -> Bool {
        realm.objects(Message.self).where { $0.exchange == identity }.first != nil
    }

    private func freeIdentity(_ identity: String) -> String {
        var number = 1
        var candidate = identity
        while isKnown(candidate) {
            number += 1
            candidate = "\(identity)-again-\(number)"
        }
        return candidate
    }

    // MARK: Signing out

    /// Deletes the conversation: its file and every other file in the folder whose name begins with the file's name.
    /// - Returns: whether there was one.
    /// - Throws: ``SusiError`` if something couldn't be deleted.
    static func wipe(folder: URL) throws -> Bool {
        func files() -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
                .filter { $0.hasPrefix(fileName) }.sorted()
        }
        let found = files()
        for name in found {
            do {
                try FileManager.default.removeItem(at: folder.appending(path: name))
            } catch CocoaError.fileNoSuchFile {
                continue
            } catch {
                throw SusiError(
                    "Can't delete '\(name)' in '\(folder.path)', so messages are still there: "
                        + error.localizedDescription)
            }
        }
        return !found.isEmpty
    }
}
