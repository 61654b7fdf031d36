import PostgresClient
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

/// Adds documents in the transaction that makes their tables, so that servers never know of one without the other.
struct DocumentExtension: SchemaExtension {
    /// A document that is to count from now on.
    struct Change: Sendable {
        /// A file of a tool, of which the content was made.
        enum File: Sendable {
            case models(ModelDocument)
            case rules(String)
        }

        let app: String
        let kind: DocumentKind
        let content: String
        /// The version of the document that this one was made to follow; nil if there was none.
        let previous: Int64?
        /// Nil for what somebody asked a server for, and what no file says.
        var file: File?
        /// What the history is to say.
        var note: String?
        /// The file's text, if the content has something of an admin server's besides.
        var applied: String?
        /// Who asked a server for it.
        var account: String?

        /// Whether a document that is there is this one, and was applied from a file that says as much as this one's.
        /// Otherwise what somebody took over into the file would later pass for a change that was only made in an admin
        /// server.
        func isDone(_ present: StoredDocument?, _ connection: PostgresConnection) async throws -> Bool {
            guard let present, present.content.hasBytes(of: content) else { return false }
            guard let file else { return true }
            let known = try await DocumentTable.applied(kind, of: app, connection)
            switch file {
            case .rules(let text): return known?.hasBytes(of: text) == true
            case .models(let models):
                guard let known = known.flatMap({ try? ModelDocument(json: $0) }) else { return true }
                return models.additions(since: known).isEmpty
            }
        }

        var insertion: String {
            DocumentTable.insertion(
                app: app, kind: kind, content: content, applied: applied, note: note, account: account)
        }
    }

    let changes: [Change]
    /// The versions of the models that the schema was made of, by app.
    let models: [String: Int64]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let newest = live.systemRelations.contains("document") ? try await DocumentTable.newest(connection) : []
        // By older models of another app, the steps would take back what its newer ones have brought: names, and rights.
        for document in newest where document.kind == .models && document.version != models[document.app] {
            guard changes.contains(where: { $0.app == document.app && $0.kind == .models }) else {
                throw MigrationError.documentChanged(app: document.app)
            }
        }
        var steps: [SchemaStep] = []
        for change in changes {
            let present = newest.first { $0.app == change.app && $0.kind == change.kind }
            if try await change.isDone(present, connection) { continue }
            guard present?.version == change.previous else { throw MigrationError.documentChanged(app: change.app) }
            steps.append(
                SchemaStep(
                    name: "\(change.kind.rawValue) of \(change.app)",
                    sql: change.insertion))
        }
        return steps
    }
}
