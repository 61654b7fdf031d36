import HTTPTypes
import ServiceTestSupport

/// An answer without the parts that differ from request to request.
struct TrashAnswer: Equatable, Sendable {
    let status: Int
    let text: String
    /// The headers that may reveal something about objects.
    let headers: [String]
    /// Computed by the server from the body, so it also reflects the ids there.
    let eTag: String?

    init(_ answer: Answer) {
        status = answer.status
        var text = answer.text
        if let name = HTTPField.Name("X-Request-Id"), let id = answer.headers[name] {
            text = text.replacing(id, with: "")
        }
        // Every page gets new keys for what its form creates.
        self.text = text.replacing(/"_seed" value="[0-9a-f]{24}"/, with: "")
        let telling: [HTTPField.Name] = [.contentType, .location, .contentDisposition]
        headers = telling.map { "\($0): \(answer.headers[$0] ?? "")" }
        eTag = answer.headers[.eTag]
    }

    private init(status: Int, text: String, headers: [String], eTag: String?) {
        self.status = status
        self.text = text
        self.headers = headers
        self.eTag = eTag
    }

    /// The answer with changed text. Of its ETag, only the presence is kept.
    func map(_ change: (String) -> String) -> TrashAnswer {
        TrashAnswer(status: status, text: change(text), headers: headers.map(change), eTag: eTag.map { _ in "" })
    }

    func contains(_ word: String) -> Bool { text.contains(word) || headers.contains { $0.contains(word) } }

    /// The first difference, or nil for equal answers.
    func difference(from other: TrashAnswer) -> String? {
        guard status == other.status else { return "\(status), not \(other.status)" }
        guard headers == other.headers else { return "\(headers), not \(other.headers)" }
        guard eTag == other.eTag else { return "\(eTag ?? "no ETag"), not \(other.eTag ?? "no ETag")" }
        guard text != other.text else { return nil }
        let place = zip(text, other.text).prefix { $0 == $1 }.count
        func part(_ text: String) -> String { String(text.dropFirst(max(0, place - 40)).prefix(120)) }
        return "'\(part(text))', not '\(part(other.text))'"
    }
}
