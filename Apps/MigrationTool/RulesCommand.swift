import ArgumentParser
import Foundation
import PostgresClient
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel
import ToolSupport

/// `migration-tool rules`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Check, store and explain who may do what.",
        discussion: "docs/rules.md describes the language of rule documents.",
        subcommands: [Check.self, Apply.self, Explain.self])

    /// `migration-tool rules check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Report mistakes in rule documents. Changes nothing.",
            discussion: """
                With --models, checks the rule documents against these model documents. Without it, checks one rule \
                document against its app's models in the database and the other apps' rules.
                """)

        @Argument(help: "Rule documents, YAML or JSON.")
        var files: [String]

        @OptionGroup var models: ModelOptions

        @Option(help: "The app whose rules these are, if the database has several.")
        var app: String?

        @OptionGroup var database: DatabaseOptions

        func validate() throws {
            guard models.ruleFiles.isEmpty else {
                throw ValidationError("'rules check' takes the rule documents as arguments, without --rules.")
            }
            guard app == nil || models.files.isEmpty else {
                throw ValidationError(
                    "--app names an app in the database; with --models, the documents name their app.")
            }
        }

        func run() async throws {
            let documents = try files.map { RuleDeployment(file: $0, content: try RulesCommand.text(of: $0)) }
            let notes: [String]
            if models.files.isEmpty {
                guard documents.count == 1 else {
                    throw ValidationError("Pass one document: an app has one. To check several, pass --models.")
                }
                notes = try await database.reading { connection in
                    try documents[0].checked(app: app, against: try await DocumentTable.newest(connection)).rules.notes
                }
            } else {
                let named = try models.files.map { (file: $0, models: try RulesCommand.models($0)) }
                try ModelConflicts.check(named)
                let models = named.map(\.models)
                notes = try RulesCommand.reporting { try RuleDeployment.check(documents, models: models).notes }
            }
            for note in notes { print(note) }
            print(files.count == 1 ? "The rules are fine." : "The rules are fine together.")
        }
    }

    /// `migration-tool rules apply`
    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store a rule document, which servers use from then on.",
            discussion: """
                Open sessions get the changes within a second. A document with a mistake changes nothing.

                Boxes of the permission matrix and roles that were changed in the admin server stay as they are. They \
                are listed.
                """)

        @Argument(help: "The rule document, YAML or JSON.")
        var file: String

        @Option(help: "The app whose rules these are, if the database has several.")
        var app: String?

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var boxes: BoxOptions

        func run() async throws {
            let document = RuleDeployment(file: file, content: try RulesCommand.text(of: file))
            let (outcome, notes) = try await database.reading {
                try await document.apply(app: app, replacesBoxes: boxes.replaceBoxes, $0)
            }
            for note in notes { print(note) }
            switch outcome {
            case .unchanged: print("The rules haven't changed.")
            case .stored(let version): print("Stored the rules as version \(version).")
            }
        }
    }

    /// `migration-tool rules explain`
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain what a user may do with a class or an object, and what would have to change.",
            discussion: """
                Uses the rules in the database or, with --rules, a document that isn't stored, in place of the app's \
                own and beside the other apps' rules. Changes nothing.
                """)

        @Option(help: "The user: an e-mail address or an id.")
        var user: String

        @Option(name: .customLong("class"), help: "The class.")
        var className: String

        @Option(help: "The key of one object.")
        var key: String?

        @Option(
            help: ArgumentHelp("A rule document to try out, YAML or JSON.", valueName: "file"),
            completion: .file(extensions: ["yaml", "yml", "json"]))
        var rules: String?

        @Option(help: "The app that --rules is for, if it isn't the class's app.")
        var app: String?

        @OptionGroup var database: DatabaseOptions

        func validate() throws {
            guard app == nil || rules != nil else { throw ValidationError("--app needs --rules.") }
        }

        func run() async throws {
            let candidate = try rules.map { RuleDeployment(file: $0, content: try RulesCommand.text(of: $0)) }
            try await database.withPool { pool in
                do {
                    let (explanation, isInTrash) = try await RuleExplainer(pool).explain(
                        user: user, className: className, key: key, candidate: candidate, app: app)
                    print(explanation)
                    if isInTrash { print("  The object is in the trash, where no device sees it.") }
                } catch let error as RuleError {
                    throw ToolError(error)
                } catch AuthenticationError.unknownUser {
                    throw ToolError(
                        "There is no account \(user), or it's disabled.",
                        fix: "Check the address; 'migration-tool user add \(user)' creates an account.")
                }
            }
        }
    }

    static func text(of path: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError("Can't read the file \(path).", fix: "Check the path and the file's permissions.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ToolError("The file \(path) isn't UTF-8 text.", fix: "Convert it.")
        }
        return text
    }

    static func models(_ path: String) throws -> ModelDocument {
        let text = try text(of: path)
        do throws(ModelDocumentError) {
            return try ModelDocument(json: text)
        } catch {
            throw ToolError(error, file: path)
        }
    }

    /// Runs `body`. If there are problems, the error says how many, and where the language is described.
    static func reporting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as RuleError {
            throw ToolError(error)
        }
    }
}

extension DatabaseOptions {
    /// Runs `body` with one connection and returns its result. Problems with rules become errors for the command
    /// line.
    fileprivate nonisolated(nonsending) func reading<R: Sendable>(
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        var result: R?
        do {
            try await withConnection { result = try await body($0) }
        } catch let error as RuleError {
            throw ToolError(error)
        }
        guard let result else { throw ExitCode.failure }
        return result
    }
}

extension ToolError {
    fileprivate init(_ error: RuleError) {
        let count = error.problems.count
        self.init(
            "The rules have \(count == 1 ? "a mistake" : "\(count) mistakes"):\n\(error)",
            fix: "Correct the document; docs/rules.md describes the language.")
    }
}
