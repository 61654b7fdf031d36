import PostgresClient
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

/// Adds documents in the same transaction as their tables, so that servers never know of one without the other.
struct DocumentExtension: SchemaExtension {
    /// A document that takes effect from now on.
    struct Change: Sendable {
        /// The tool's file that the content was derived from.
        enum File: Sendable {
            case models(ModelDocument)
            case rules(String)
        }

        let app: String
        let kind: DocumentKind
        let content: String
        /// The version of the document that this one is meant to follow, or nil if there was none.
        let previous: Int64?
        /// Nil for a change that an account asked a server for, and that no file contains.
        var file: File?
        /// A note for the history.
        var note: String?
        /// The file's text, if the content also includes changes made in an admin server.
        var applied: String?
        /// The account that asked a server for the change.
        var account: String?

        /// Whether an existing document is the same as this one, and was applied from an equivalent file. If the file
        /// weren't compared, something that was copied into it from the admin server would later look like a change
        /// that was only made there.
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
    /// By app, the versions of the models that the schema was made from.
    let models: [String: Int64]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let newest = live.systemRelations.contains("document") ? try await DocumentTable.newest(connection) : []
        // With older models of another app, the steps would undo names and rights that its newer models have
        // introduced.
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
