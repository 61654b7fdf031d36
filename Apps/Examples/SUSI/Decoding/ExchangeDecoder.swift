import Crypto
import Foundation

/// Turns a server's data into plain values. Every value becomes something that can be stored: anything unreadable is
/// replaced by a default, and if an action wasn't fully understood, its JSON is kept along with it.
///
/// Of `answers`, which are alternatives, it uses the first one with actions, and all of its `actions` in order.
struct ExchangeDecoder {
    /// Longer texts are cut, because a property can't hold more.
    static let maximumTextByteCount = 16 << 20
    /// Names that are repeated in every message of an answer are cut to this length.
    static let maximumNameByteCount = 1_000

    /// Used for dates that the server didn't send, or that can't be read.
    private let receivedAt: Date
    private(set) var notes = Notes()
    var allowance = RowAllowance()
    private var undated: [String: Int] = [:]

    init(receivedAt: Date) { self.receivedAt = receivedAt }

    /// Reads an answer (`chat.json`), a history (`memory.json`, with `cognitions`), or an array of answers.
    /// - Throws: ``SusiError`` if the document isn't one of these.
    static func decode(_ data: Data, receivedAt: Date) throws -> (exchanges: [Exchange], notes: Notes) {
        let document = try JSONParser.parse(data)
        var decoder = ExchangeDecoder(receivedAt: receivedAt)
        let exchanges = try decoder.exchanges(in: document)
        return (exchanges, decoder.notes)
    }

    private mutating func exchanges(in document: JSON) throws -> [Exchange] {
        let items: [JSON]
        if let cognitions = document["cognitions"] {
            items = cognitions.items
            if case .array = cognitions {} else { notes.add("'cognitions' isn't an array") }
        } else if case .array(let all) = document {
            items = all
        } else if document["answers"] != nil || document["query"] != nil {
            items = [document]
        } else {
            throw SusiError("This isn't a SUSI answer: it has none of 'answers', 'query' and 'cognitions'.")
        }
        var result: [Exchange] = []
        for (index, item) in items.enumerated() {
            if let exchange = exchange(item) {
                result.append(exchange)
            } else {
                notes.add("number \(index + 1) of \(items.count) is neither a question nor an answer and was left out")
            }
        }
        return result
    }

    private mutating func exchange(_ item: JSON) -> Exchange? {
        guard item["answers"] != nil || item["query"] != nil else { return nil }
        let query = text(item["query"], "query") ?? ""
        let answer = item["answers"]?.items.first { !($0["actions"]?.items ?? []).isEmpty }
        let data = answer?["data"]?.items.filter(\.isObject) ?? []
        var replies: [Exchange.Reply] = []
        for action in answer?["actions"]?.items ?? [] { replies.append(reply(action, data)) }
        if replies.isEmpty { notes.add("the answer to '\(query.prefix(60))' has no actions") }
        let queryDate = date(item["query_date"], "query_date")
        return Exchange(
            identity: identity(of: item, answer, isDated: queryDate != nil), query: query,
            queryDate: queryDate ?? receivedAt, answerDate: date(item["answer_date"], "answer_date") ?? receivedAt,
            skill: cut(answer?["skills"]?.items.first?.string ?? "", "skills", to: Self.maximumNameByteCount),
            replies: replies)
    }

    /// Exchanges that are equal including both dates are the same. Without the question's date, equal exchanges are
    /// numbered instead: the second one in a document is also the second one when the document is imported again.
    private mutating func identity(of item: JSON, _ answer: JSON?, isDated: Bool) -> String {
        var hash = SHA256()
        for part in [item["query"], item["query_date"], item["answer_date"], answer?["actions"]] {
            let text = part?.text ?? ""
            hash.update(data: Data("\(text.utf8.count):\(text)".utf8))
        }
        let name = hash.finalize().prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        guard !isDated else { return name }
        let number = undated[name, default: 0] + 1
        undated[name] = number
        return number == 1 ? name : "\(name)-\(number)"
    }

    private mutating func date(_ value: JSON?, _ name: String) -> Date? {
        guard let value else { return nil }
        if case .string(let text) = value, let date = ISODate.date(text) { return date }
        notes.add("\(name) \(String(value.text.prefix(60))) isn't a date; using the time of receipt")
        return nil
    }

    /// Text that can be stored, or nil if there is none.
    mutating func text(_ value: JSON?, _ name: String) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            notes.add("'\(name)' isn't a string")
            return nil
        }
        return cut(text, name)
    }

    mutating func cut(_ text: String, _ name: String, to limit: Int = maximumTextByteCount) -> String {
        guard text.utf8.count > limit else { return text }
        notes.add("'\(name.prefix(60))' has \(text.utf8.count) bytes and was cut to \(limit)")
        // Don't cut in the middle of a character's bytes.
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    mutating func note(_ sentence: String) { notes.add(sentence) }
}
