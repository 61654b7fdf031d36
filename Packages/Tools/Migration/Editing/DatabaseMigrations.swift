public import PostgresClient
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore
import TomboloRuleDocuments
import TomboloRules
public import TomboloServerModel

/// Plans and applies edits of documents like `migration-tool` does, as a separate database user that acts as the
/// owner of the tables. Each plan or edit opens a connection and closes it afterwards.
public struct DatabaseMigrations: DocumentMigrations {
    /// The statement timeout of PostgreSQL for each query while planning.
    static let planStatementTimeout = Duration.seconds(10)

    private let configuration: PostgresConfiguration

    public init(_ configuration: PostgresConfiguration) {
        var configuration = configuration
        configuration.applicationName = "tombolo-migration"
        self.configuration = configuration
    }

    public func plan(_ edit: DocumentEdit) async throws -> DocumentPlan {
        var configuration = configuration
        configuration.statementTimeout = Self.planStatementTimeout
        return try await Self.withConnection(configuration) { connection in
            let plan = try await Self.migrator(edit, connection).plan()
            guard plan.problems.isEmpty else { throw DocumentEditError.mistakes(plan.problems) }
            return try await PlanDescription(plan, edit, connection).plan()
        }
    }

    public func apply(
        _ edit: DocumentEdit, confirmed fingerprint: String,
        progress: @escaping @Sendable (_ step: String, _ place: Int, _ total: Int) -> Void
    ) async throws {
        try await Self.withConnection(configuration) { connection in
            _ = try await Self.migrator(edit, connection).applying { plan in
                guard plan.problems.isEmpty else { throw DocumentEditError.mistakes(plan.problems) }
                let found = try await PlanDescription.fingerprint(plan, connection)
                guard found == fingerprint else { throw DocumentEditError.stale }
            } progress: { step, place, total in
                progress(step.name, place, total)
            }
        }
    }

    /// - Throws: ``DocumentEditError/mistakes(_:)`` with everything that is wrong with either document.
    private static func migrator(_ edit: DocumentEdit, _ connection: PostgresConnection) async throws -> Migrator {
        var problems: [String] = []
        var models: ModelDocument?
        if let text = edit.models {
            do throws(ModelDocumentError) {
                models = try ModelDocument(json: text)
            } catch {
                problems += error.problems.map(\.wording.localized)
            }
        }
        if let models, models.app != edit.app {
            problems.append(
                localized("\"app\" is '\(models.app)': this is the model of '\(edit.app)', whose name stays."))
        }
        if let rules = edit.rules {
            do throws(RuleError) {
                _ = try RuleBook(parsing: rules, file: ServerModel.ruleFile(edit.app))
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw DocumentEditError.mistakes(problems) }
        let documents = [
            models.map { AppDocuments(models: $0, rules: edit.rules) },
            models == nil ? edit.rules.map { AppDocuments(app: edit.app, rules: $0) } : nil,
        ].compactMap(\.self)
        return try await Migrator.toDocuments(documents, on: connection, account: edit.account)
    }

    // MARK: The connection

    private static func withConnection<R: Sendable>(
        _ configuration: PostgresConfiguration, _ body: @Sendable (PostgresConnection) async throws -> R
    ) async throws -> R {
        let connection: PostgresConnection
        do {
            connection = try await PostgresConnection.connect(configuration)
        } catch let error as PostgresError {
            throw DocumentEditError.unreachable(error.message)
        }
        do {
            try await checkUser(connection)
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw DocumentEditError(telling: error) ?? error
        }
    }

    /// Objects that a different user created would belong to that user, and the next migration couldn't change them.
    private static func checkUser(_ connection: PostgresConnection) async throws {
        guard try await connection.pooling() != .transaction else {
            throw DocumentEditError.unsuitableUser(
                "It leads to a connection pooler in transaction mode: connect to PostgreSQL directly.")
        }
        let row = try await connection.query(
            """
            SELECT pg_is_in_recovery(), session_user::text, current_user::text, (
                SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = to_regclass('tombolo.document'))
            """)[0]
        guard try !row[0].bool else {
            throw DocumentEditError.unsuitableUser(
                "It leads to a standby, which is read-only: name the primary.")
        }
        guard let owner = try row[3].nonNull?.string else {
            throw DocumentEditError.unsuitableUser("It leads to a database without Tombolo's tables: check its name.")
        }
        let (login, user) = (try row[1].string, try row[2].string)
        guard user != owner else { return }
        let (name, role) = (PostgresSQL.quoteIdentifier(login), PostgresSQL.quoteIdentifier(owner))
        throw DocumentEditError.unsuitableUser(
            "Its user acts as '\(user)', but the tables belong to '\(owner)'. As a user who may, run: "
                + "GRANT \(role) TO \(name); ALTER ROLE \(name) SET role = \(PostgresSQL.quoteLiteral(owner))")
    }
}

extension DocumentEditError {
    /// - Returns: nil for an error that isn't about the edit, such as a cancellation.
    fileprivate init?(telling error: any Error) {
        switch error {
        case let error as DocumentEditError: self = error
        case let error as ModelDocumentError: self = .mistakes(error.problems.map(\.wording.localized))
        case let error as RuleError: self = .mistakes(error.problems)
        case ServerModelError.invalid(let problems): self = .mistakes(problems)
        case MigrationError.notAdditive(let problems): self = .mistakes(problems)
        case MigrationError.documentChanged: self = .stale
        case let error as MigrationError:
            self = error.isRetryable ? .busy(error.description) : .failed(error.description)
        case let error as PostgresError: self = .failed(error.message)
        default: return nil
        }
    }
}
