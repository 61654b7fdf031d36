public import PostgresClient
import TomboloModel
import TomboloPostgresStore
import TomboloRuleDocuments
import TomboloRules
import TomboloServerModel

extension Migrator {
    /// Creates a migrator for the models and rules of all apps in a database, after some of them changed. Whatever an
    /// app's newer models lack stays for its older versions.
    /// - Parameters:
    ///   - apps: the apps whose documents change. Other apps keep theirs.
    ///   - isDevelopment: whether devices asked for it in development mode. It then only adds, changes nothing that
    ///     the database has, and takes over no table that Tombolo didn't create.
    ///   - extensions: what else the apps need, in order.
    ///   - rolePrefix: see ``init(_:schema:extensions:isDevelopment:rolePrefix:)``.
    ///   - replacesBoxes: whether rules are stored as given. Otherwise, changes to their matrix that were made in an
    ///     admin server are kept; ``MigrationPlan/notes`` says which.
    ///   - account: the account that asked a server for it, having edited the current documents. They are then stored
    ///     as given. Nil for a tool, which keeps additions to the models that were made in an admin server.
    /// - Throws: `ModelDocumentError` for models that older versions of the app can't work with;
    ///   ``TomboloServerModel/ServerModelError`` with every problem, for documents that conflict; the database's
    ///   error.
    public static func toDocuments(
        _ apps: [AppDocuments], on connection: PostgresConnection, isDevelopment: Bool = false,
        extensions: [any SchemaExtension] = [], rolePrefix: String? = nil, replacesBoxes: Bool = false,
        account: String? = nil
    ) async throws -> Migrator {
        var stored: [StoredDocument]
        do {
            stored = try await DocumentTable.newest(connection)
        } catch ServerModelError.notMigrated {
            stored = []
        }
        let known = Dictionary(
            uniqueKeysWithValues: stored.filter { $0.kind == .models }.map { ($0.app, $0.version) })
        var changes: [DocumentExtension.Change] = []
        func previous(_ app: String, _ kind: DocumentKind) -> StoredDocument? {
            stored.first { $0.app == app && $0.kind == kind }
        }
        func add(_ change: DocumentExtension.Change) {
            changes.append(change)
            let document = StoredDocument(
                version: change.previous ?? 0, app: change.app, kind: change.kind, content: change.content)
            if let place = stored.firstIndex(where: { $0.app == change.app && $0.kind == change.kind }) {
                stored[place] = document
            } else {
                stored.append(document)
            }
        }
        var documents = PlannedDocuments(version: stored.map(\.version).max() ?? 0)
        for item in apps {
            if let file = item.models {
                let current = previous(item.app, .models)
                let mayKeep = current != nil && !isDevelopment && account == nil
                let base = mayKeep ? try await DocumentTable.applied(.models, of: item.app, connection) : nil
                let models = try AppliedModels(
                    file, base: base.flatMap { try? ModelDocument(json: $0) },
                    current: try current.map { try ModelDocument(json: $0.content) }, isAdditive: isDevelopment)
                add(
                    DocumentExtension.Change(
                        app: item.app, kind: .models, content: models.content.json, previous: current?.version,
                        file: mayKeep ? .models(file) : nil, note: models.note,
                        applied: models.keepsAdditions ? file.json : nil, account: account))
                if let note = models.note { documents.notes.append("Models of \(item.app): \(note)") }
                documents.changes += models.changes
                documents.models[item.app] = models.content
            }
            if let file = item.rules {
                let current = previous(item.app, .rules)
                let rules =
                    account == nil
                    ? try await AppliedRules(
                        file, app: item.app, over: current, replacesBoxes: replacesBoxes, connection)
                    : AppliedRules(edited: file, app: item.app, over: current?.content)
                add(rules.change(over: current, account: account))
                documents.permissions += rules.changes.map(\.description)
                documents.notes += rules.notes
                documents.problems += rules.problems
            }
        }
        let brought = Set(
            apps.filter { $0.app != ServerModel.developmentApp }.flatMap { $0.models?.classes ?? [] }.map(\.name))
        if let left = try developmentClasses(of: stored, without: brought) {
            add(
                DocumentExtension.Change(
                    app: left.app, kind: .models, content: left.json, previous: previous(left.app, .models)?.version,
                    account: account))
        }
        let model = try ServerModel(stored)
        let problems = model.schema.synchronizationProblems + model.schema.reservedNameProblems
        guard problems.isEmpty else { throw ServerModelError.invalid(problems: problems) }
        documents.ruleNotes = model.rules.notes
        return Migrator(
            connection, schema: model.schema,
            extensions: extensions + [DocumentExtension(changes: changes, models: known)],
            isDevelopment: isDevelopment, rolePrefix: rolePrefix, documents: documents)
    }

    /// What remains of the classes that devices brought in development mode, when an app brings some of them itself.
    /// Nil if nothing changes.
    private static func developmentClasses(
        of stored: [StoredDocument], without names: Set<String>
    ) throws -> ModelDocument? {
        let known = stored.first { $0.app == ServerModel.developmentApp && $0.kind == .models }
        guard let document = try known.map({ try ModelDocument(json: $0.content) }) else { return nil }
        let left = document.classes.filter { !names.contains($0.name) }
        guard left.count < document.classes.count else { return nil }
        let linking = left.filter { item in
            item.properties.contains { property in
                property.target.map { !$0.isEmbedded && names.contains($0.name) } ?? false
            }
        }.map(\.name)
        guard linking.isEmpty else {
            throw ServerModelError.invalid(problems: [
                "\(linking.joined(separator: ", ")): added by devices in development mode, with links to classes that "
                    + "the app now has. Add \(linking.count == 1 ? "this class" : "these classes") to the app's "
                    + "document too."
            ])
        }
        return try ModelDocument(app: document.app, classes: left)
    }
}
