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
        /// Of rules: what they were made of.
        let rules: AppliedRules?

        /// Whether a document that is there is this one, and of rules also the one that was applied last. Otherwise what
        /// somebody took over into the file would later pass for a change that was only made in an admin server.
        func isDone(_ present: StoredDocument?, _ connection: PostgresConnection) async throws -> Bool {
            guard present?.content == content else { return false }
            guard let rules else { return true }
            return try await DocumentTable.appliedRules(of: app, connection) == rules.file
        }

        var insertion: String {
            DocumentTable.insertion(
                app: app, kind: kind, content: content, applied: rules?.file, note: rules?.note)
        }
    }

    let changes: [Change]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let newest = live.systemRelations.contains("document") ? try await DocumentTable.newest(connection) : []
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
