import PostgresClient
import TomboloServerModel

/// The documents in use on which an edit is based.
struct ModelBasis: Sendable {
    let models: StoredDocument
    let rules: StoredDocument?

    /// - Returns: nil if there is no such app.
    init?(_ app: String, _ connection: PostgresConnection) async throws {
        let newest = try await DocumentTable.newest(connection).filter { $0.app == app }
        guard let models = newest.first(where: { $0.kind == .models }) else { return nil }
        self.models = models
        rules = newest.first { $0.kind == .rules }
    }

    /// Changes when somebody stores a newer version of either document. Forms send it along.
    var version: String { "\(models.version)-\(rules?.version ?? 0)" }

    /// The text as a text area shows it and sends it back.
    var modelsText: String { Self.lines(models.content) }
    var rulesText: String { Self.lines(rules?.content ?? "") }

    /// Browsers end the lines of a text area with CR LF, whatever the original text had.
    static func lines(_ text: String) -> String { text.replacing("\r\n", with: "\n") }

    /// Addresses of pages that compare the documents at an older ``version`` with these.
    func comparisons(since version: String) -> [String] {
        let parts = version.split(separator: "-").map { Int64($0) ?? 0 }
        guard parts.count == 2 else { return [] }
        return zip([models, rules].map { $0?.version }, parts).compactMap { newest, old in
            guard let newest, old > 0, old != newest else { return nil }
            return "/panel/documents/\(newest)?against=\(old)"
        }
    }
}
