public import PostgresClient
public import TomboloModel
internal import TomboloRuleDocuments
public import TomboloRules
public import TomboloServerModel

/// Checks rule documents and stores them in the database. Servers pick them up within a second.
public struct RuleDeployment: Sendable {
    /// The result of storing a document.
    public enum Outcome: Hashable, Sendable {
        /// The app's rules were already the same, byte for byte.
        case unchanged
        case stored(version: Int64)
    }

    /// The document's name, for messages.
    private let file: String
    private let content: String

    public init(file: String, content: String) {
        self.file = file
        self.content = content
    }

    /// Checks documents against models, without a database.
    /// - Returns: the rules, whose notes mention anything that has no effect.
    /// - Throws: ``TomboloRules/RuleError`` with every problem of every document.
    public static func check(_ documents: [RuleDeployment], models: [ModelDocument]) throws(RuleError) -> Rules {
        let schema: Schema
        do throws(SchemaError) {
            schema = try ModelDocument.schema(of: models)
        } catch {
            throw RuleError(problems: error.problems)
        }
        var books: [RuleBook] = []
        var problems: [String] = []
        for document in documents {
            do throws(RuleError) {
                books.append(try RuleBook(parsing: document.content, file: document.file))
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw RuleError(problems: problems) }
        return try Rules(schema: schema, books: books)
    }

    /// The model that servers would have if these were an app's rules.
    /// - Parameters:
    ///   - app: nil for the only app in the database.
    ///   - documents: the newest document of each app and kind.
    /// - Throws: ``RuleDeploymentError``; ``TomboloRules/RuleError`` with every problem.
    public func checked(app: String?, against documents: [StoredDocument]) throws -> ServerModel {
        let app = try Self.app(app, in: documents)
        let others = documents.filter { $0.app != app || $0.kind != .rules }
        // With a new version, as it would be stored.
        let version = (documents.map(\.version).max() ?? 0) + 1
        let candidate = StoredDocument(version: version, app: app, kind: .rules, content: content)
        do throws(ServerModelError) {
            return try ServerModel(others + [candidate])
        } catch {
            guard case .invalid(let problems) = error else { throw error }
            throw RuleError(problems: problems.map { naming($0, app: app) })
        }
    }

    /// Replaces the name of an app's rules in a text by the file's name.
    func naming(_ text: String, app: String?) -> String {
        app.map { text.replacing("rules of \($0):", with: "\(file):") } ?? text
    }

    /// Stores the document as an app's rules if it has no mistakes. Idempotent.
    /// - Parameters:
    ///   - replacesBoxes: whether it's stored as given. Otherwise, changes to the matrix that were made in an admin
    ///     server since rules were last applied are kept.
    ///   - connection: for the role that owns the tables.
    /// - Returns: the result, what happened to such changes, and anything in the document that has no effect.
    /// - Throws: like ``checked(app:against:)``; ``TomboloServerModel/ServerModelError/notMigrated``; the database's
    ///   error.
    @discardableResult
    public func apply(
        app: String?, replacesBoxes: Bool = false, _ connection: PostgresConnection
    ) async throws -> (Outcome, notes: [String]) {
        try await connection.transaction { connection in
            // Not during a migration, because these rules may not fit its models.
            try await connection.execute("SET LOCAL lock_timeout = \(Migrator.lockTimeoutMilliseconds)")
            try await connection.query("SELECT pg_advisory_xact_lock($1)", [.int64(Migrator.lockKey)])
            let documents = try await DocumentTable.newest(connection)
            let app = try Self.app(app, in: documents)
            let previous = documents.first { $0.app == app && $0.kind == .rules }
            let rules = try await AppliedRules(
                content, app: app, over: previous, replacesBoxes: replacesBoxes, connection)
            guard rules.problems.isEmpty else { throw RuleError(problems: rules.problems) }
            let model = try RuleDeployment(file: file, content: rules.content).checked(app: app, against: documents)
            let notes = rules.notes + model.rules.notes.map { naming($0, app: app) }
            let change = rules.change(over: previous)
            guard try await !change.isDone(previous, connection) else { return (.unchanged, notes) }
            try await connection.execute(change.insertion)
            return (.stored(version: try await DocumentTable.version(connection)), notes)
        }
    }

    private static func app(_ wanted: String?, in documents: [StoredDocument]) throws(RuleDeploymentError) -> String {
        let apps = documents.filter { $0.kind == .models }.map(\.app).sorted()
        guard let wanted else {
            guard let app = apps.first else { throw .noModels }
            guard apps.count == 1 else { throw .whichApp(apps) }
            return app
        }
        guard apps.contains(wanted) else { throw .unknownApp(wanted, apps) }
        return wanted
    }
}
