public import TomboloAuthentication
public import TomboloModel
internal import TomboloRuleDocuments
public import TomboloRules

/// What a server knows about the apps that it serves: all their classes, who may do what, and where grants come from.
/// It is derived only from the documents in the database; see docs/adr/0012.
public struct ServerModel: Sendable {
    /// The app for classes that devices brought in development mode. If another app's document has such a class, that
    /// app takes it over.
    public static let developmentApp = "development"

    /// The version of the newest document, or 0 without documents.
    public let version: Int64
    /// The OID of the database that the documents were read from, or 0 if they weren't read from one. Versions in
    /// another database belong to another history: a backup was restored under the database's name.
    public internal(set) var database: Int64 = 0
    /// The classes of all apps.
    public let schema: Schema
    public let rules: Rules
    /// Where the grants of ``rules`` are stored, for logins.
    public let grants: [GrantSource]
    /// By app.
    public let models: [String: ModelDocument]
    /// By app, the rules as they were written.
    public let ruleDocuments: [String: String]
    /// By app, the version of its rules.
    public let ruleVersions: [String: Int64]
    private let books: [RuleBook]

    /// - Parameters:
    ///   - documents: the newest document of each app and kind.
    ///   - isOpen: whether everybody who is logged in may read and write objects of classes without rules, as in
    ///     development mode.
    /// - Throws: ``ServerModelError/invalid(problems:)`` with every problem.
    public init(_ documents: [StoredDocument], isOpen: Bool = false) throws(ServerModelError) {
        var problems: [String] = []
        var models: [String: ModelDocument] = [:]
        for document in documents where document.kind == .models {
            do throws(ModelDocumentError) {
                models[document.app] = try ModelDocument(json: document.content)
            } catch {
                problems.append("The \(document.name) can't be read: \(error)")
            }
        }
        guard problems.isEmpty else { throw .invalid(problems: problems) }
        let schema = try Self.union(models)
        var books: [RuleBook] = []
        for document in documents where document.kind == .rules {
            do throws(RuleError) {
                var book = try RuleBook(parsing: document.content, file: Self.ruleFile(document.app))
                book.scope = models[document.app].map { Set($0.classes.map(\.name)) } ?? []
                books.append(book)
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw .invalid(problems: problems) }
        if isOpen {
            let ruled = books
            let open = schema.classes.filter { item in
                item.owner == nil && !ruled.contains { $0.decides(about: item.name) }
            }.map(\.name)
            books.append(.open(open))
        }
        self.schema = schema
        self.models = models
        self.books = books
        ruleDocuments = Dictionary(
            documents.filter { $0.kind == .rules }.map { ($0.app, $0.content) }, uniquingKeysWith: { first, _ in first }
        )
        ruleVersions = Dictionary(
            documents.filter { $0.kind == .rules }.map { ($0.app, $0.version) }, uniquingKeysWith: max)
        version = documents.map(\.version).max() ?? 0
        rules = try Self.compile(books, schema)
        grants = try Self.grantSources(of: rules)
    }

    /// The rules applied to an older model's classes. Rules about classes that it lacks are left out.
    /// - Throws: ``ServerModelError/invalid(problems:)`` if the rules look at properties that the older model lacks,
    ///   or if grants come from a class that it lacks.
    public func rules(on older: Schema) throws(ServerModelError) -> Rules {
        guard older != schema else { return rules }
        let names = Set(older.classes.map(\.name))
        for source in rules.grantColumns where !names.contains(schema[source.classIndex].name) {
            throw .invalid(problems: [
                "The older model lacks \(schema[source.classIndex].name), which grants roles."
            ])
        }
        return try Self.compile(books.map { $0.keeping(names) }, older)
    }

    /// The name of an app's rules in messages.
    package static func ruleFile(_ app: String) -> String { "rules of \(app)" }

    /// By app, the matrices of those apps whose rules have one.
    public var matrices: [String: PermissionMatrix] {
        let found = rules.matrices
        return ruleVersions.keys.reduce(into: [:]) { $0[$1] = found[Self.ruleFile($1)] }
    }

    /// Why the subject may not see or change the matrix of an app; see `Rules.refusal(_:_:ofMatrixIn:)`.
    public func refusal(_ subject: Subject, _ operation: Operation, ofMatrixOf app: String) -> Decision.Denial? {
        rules.refusal(subject, operation, ofMatrixIn: Self.ruleFile(app))
    }

    /// What a role that applies everywhere may do; see `Rules.letters(everywhere:service:inMatrixOf:)`.
    public func letters(everywhere role: String, service: String, inMatrixOf app: String) -> String? {
        rules.letters(everywhere: role, service: service, inMatrixOf: Self.ruleFile(app))
    }

    /// Which group of an app's users somebody belongs to, and which permissions they have; see
    /// `Rules.userPermissions(of:inMatrixOf:)`.
    public func userPermissions(
        of subject: Subject, inMatrixOf app: String
    ) -> (group: String, permissions: [String])? {
        rules.userPermissions(of: subject, inMatrixOf: Self.ruleFile(app))
    }

    /// The matrix boxes that an operation depends on, and their app; see `Rules.explainBoxes(_:_:className:row:)`.
    public func explainBoxes(
        _ subject: Subject, _ operation: Operation, className: String, row: Row?
    ) -> (app: String, boxes: Rules.BoxExplanation)? {
        guard let found = rules.explainBoxes(subject, operation, className: className, row: row) else { return nil }
        return ruleVersions.keys.first { Self.ruleFile($0) == found.document }.map { ($0, found) }
    }

    /// The roles of an app's matrix that can be renamed and removed, because its rules name them nowhere else.
    public func customRoles(of app: String) -> [String] {
        guard let content = ruleDocuments[app], let text = try? RuleText(content, file: Self.ruleFile(app)) else {
            return []
        }
        return text.matrix.rows.filter { text.isCustom($0) }
    }

    /// An example of a subject who has this role of an app and no other; see `Rules.example(of:inMatrixOf:)`.
    public func example(of role: String, inMatrixOf app: String) -> Subject {
        rules.example(of: role, inMatrixOf: Self.ruleFile(app))
    }

    private static func compile(_ books: [RuleBook], _ schema: Schema) throws(ServerModelError) -> Rules {
        do throws(RuleError) {
            return try Rules(schema: schema, books: books)
        } catch {
            throw .invalid(problems: error.problems)
        }
    }

    private static func grantSources(of rules: Rules) throws(ServerModelError) -> [GrantSource] {
        do throws(ValueError) {
            return try rules.grantColumns.map { source throws(ValueError) in
                let item = rules.schema[source.classIndex]
                return try GrantSource(
                    rules.schema, className: item.name, user: item.columns[source.userColumn].name,
                    role: item.columns[source.roleColumn].name,
                    scope: source.scopeColumn.map { item.columns[$0].name })
            }
        } catch {
            throw .invalid(problems: [error.message])
        }
    }

    /// The classes of all apps in one schema.
    private static func union(_ models: [String: ModelDocument]) throws(ServerModelError) -> Schema {
        do throws(SchemaError) {
            return try ModelDocument.schema(of: models.sorted { $0.key < $1.key }.map(\.value))
        } catch {
            throw .invalid(problems: error.problems)
        }
    }
}
