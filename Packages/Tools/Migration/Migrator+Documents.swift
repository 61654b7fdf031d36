public import PostgresClient
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

extension Migrator {
    /// A migrator to the models and rules of all apps of a database together, after some of them changed. What an app's
    /// newer models lack stays for its older versions.
    /// - Parameters:
    ///   - apps: whose documents change; those of other apps stay.
    ///   - isDevelopment: whether devices asked for it in development mode: it only adds, changes nothing that the
    ///     database has, and takes over no table that Tombolo didn't make.
    ///   - extensions: what the apps need besides, in order.
    ///   - rolePrefix: as of ``init(_:schema:extensions:isDevelopment:rolePrefix:)``.
    ///   - replacesBoxes: whether rules are taken as they are. Otherwise what was changed in their matrix in an admin
    ///     server is kept; ``MigrationPlan/notes`` says what.
    /// - Throws: `ModelDocumentError` for models that older versions of the app couldn't live with;
    ///   ``TomboloServerModel/ServerModelError`` for documents that don't go together, with every problem; the
    ///   database's error.
    public static func toDocuments(
        _ apps: [AppDocuments], on connection: PostgresConnection, isDevelopment: Bool = false,
        extensions: [any SchemaExtension] = [], rolePrefix: String? = nil, replacesBoxes: Bool = false
    ) async throws -> Migrator {
        var stored: [StoredDocument]
        do {
            stored = try await DocumentTable.newest(connection)
        } catch ServerModelError.notMigrated {
            stored = []
        }
        var changes: [DocumentExtension.Change] = []
        func change(
            _ app: String, _ kind: DocumentKind, rules: AppliedRules? = nil,
            _ content: (StoredDocument?) throws -> String
        ) throws {
            let place = stored.firstIndex { $0.app == app && $0.kind == kind }
            let previous = place.map { stored[$0] }
            let content = try content(previous)
            changes.append(
                DocumentExtension.Change(
                    app: app, kind: kind, content: content, previous: previous?.version, rules: rules))
            let document = StoredDocument(version: previous?.version ?? 0, app: app, kind: kind, content: content)
            if let place { stored[place] = document } else { stored.append(document) }
        }
        for item in apps {
            if let models = item.models {
                try change(item.app, .models) { previous in
                    let old = try previous.map { try ModelDocument(json: $0.content) }
                    return try models.merged(over: old, retiringMissing: !isDevelopment).json
                }
            }
            if let file = item.rules {
                let previous = stored.first { $0.app == item.app && $0.kind == .rules }
                let rules = try await AppliedRules(
                    file, app: item.app, over: previous, replacesBoxes: replacesBoxes, connection)
                try change(item.app, .rules, rules: rules) { _ in rules.content }
            }
        }
        let brought = Set(
            apps.filter { $0.app != ServerModel.developmentApp }.flatMap { $0.models?.classes ?? [] }.map(\.name))
        if let left = try developmentClasses(of: stored, without: brought) {
            try change(ServerModel.developmentApp, .models) { _ in left.json }
        }
        let model = try ServerModel(stored)
        let problems = model.schema.synchronizationProblems
        guard problems.isEmpty else { throw ServerModelError.invalid(problems: problems) }
        return Migrator(
            connection, schema: model.schema, extensions: extensions + [DocumentExtension(changes: changes)],
            isDevelopment: isDevelopment, rolePrefix: rolePrefix, rules: changes.compactMap(\.rules))
    }

    /// What is left of the classes that devices brought in development mode when an app brings some of them itself; nil
    /// if nothing changes.
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
                "\(linking.joined(separator: ", ")): brought by devices in development mode, with links to classes that the "
                    + "app has now. Put \(linking.count == 1 ? "this class" : "these classes") into the app's document too."
            ])
        }
        return try ModelDocument(app: document.app, classes: left)
    }
}
