import PostgresClient
import TomboloPostgresStore
import TomboloServerModel

/// Adds documents in the transaction that makes their tables, so that servers never know of one without the other.
struct DocumentExtension: SchemaExtension {
    /// A document that is to count from now on.
    struct Change: Sendable {
        let app: String
        let kind: DocumentKind
        let content: String
        /// The version of the document that this one was made to follow; nil if there was none.
        let previous: Int64?
    }

    let changes: [Change]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let newest = live.systemRelations.contains("document") ? try await DocumentTable.newest(connection) : []
        var steps: [SchemaStep] = []
        for change in changes {
            let present = newest.first { $0.app == change.app && $0.kind == change.kind }
            guard present?.content != change.content else { continue }
            guard present?.version == change.previous else { throw MigrationError.documentChanged(app: change.app) }
            steps.append(
                SchemaStep(
                    name: "\(change.kind.rawValue) of \(change.app)",
                    sql: DocumentTable.insertion(app: change.app, kind: change.kind, content: change.content)))
        }
        return steps
    }
}
