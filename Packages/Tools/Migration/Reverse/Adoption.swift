public import PostgresClient
import TomboloModel
public import TomboloPostgresStore
import TomboloSQL

/// Adds synchronisation to existing tables without changing their rows: the ordinary plan adds our triggers, numbers,
/// indexes and foreign keys, and rewrites no table.
public struct Adoption: Sendable {
    public let models: ReverseModels
    /// What `migration-tool apply` would do with the document. Empty while something else is required first.
    public let steps: [SchemaStep]
    /// First about the tables, then about their values, then about what no step can remove.
    public let findings: [ReverseFinding]

    /// Whether the tables can be adopted without other changes first.
    public var isPossible: Bool { !findings.contains { $0.kind == .required } }

    /// Examines the tables and every value in them, without changing anything.
    /// - Parameters:
    ///   - connection: for the role that owns the tables.
    ///   - app: the name of the document.
    ///   - tables: nil for all.
    /// - Throws: ``PostgresError``, ``ModelDocumentError`` for names that a document can't have, and
    ///   ``TomboloServerModel/ServerModelError`` for models that conflict with those of the database's apps.
    public static func examine(
        _ connection: PostgresConnection, app: String, schemaName: String = "public", tables: [String]? = nil
    ) async throws -> Adoption {
        let survey = try await DatabaseSurvey.read(connection, schemaName: schemaName, tables: tables)
        let models = try ReverseModels(of: survey, app: app)
        let schema = try models.document.schema()
        var findings = models.findings
        // Columns that first need another type are examined once they have it.
        if schemaName == "public" {
            for item in schema.classes {
                let required = Set(models.requirements.filter { $0.table == item.table }.map(\.column))
                findings += try await values(of: item, schema, without: required, connection)
            }
        }
        guard models.requirements.isEmpty else { return Adoption(models: models, steps: [], findings: findings) }
        let plan = try await Migrator.toDocuments([AppDocuments(models: models.document)], on: connection).plan()
        for problem in plan.problems {
            findings.append(ReverseFinding(kind: .required, table: schemaName, message: problem))
        }
        let isPossible = !findings.contains { $0.kind == .required }
        return Adoption(models: models, steps: isPossible ? plan.steps : [], findings: findings)
    }

    /// Finds values that devices can't store, such as NaN. They would end the session of any device that subscribes
    /// to them.
    private static func values(
        of item: ClassSchema, _ schema: Schema, without excluded: Set<String?>, _ connection: PostgresConnection
    ) async throws -> [ReverseFinding] {
        let dialect = SQLDialect.postgresql
        var columns: [(Column, String)] = []
        for column in item.columns where !excluded.contains(column.sqlName) {
            let condition = dialect.check(dialect.quoted(column.sqlName), of: schema.storedType(of: column))
            if let condition { columns.append((column, condition)) }
        }
        guard !columns.isEmpty else { return [] }
        let counts = columns.map { "count(*) FILTER (WHERE NOT (\($0.1)))" }.joined(separator: ", ")
        let table = PostgresSQL.quoteIdentifier("public", item.table)
        let rows = try await connection.query("SELECT \(counts) FROM \(table)")
        var findings: [ReverseFinding] = []
        for (position, (column, condition)) in columns.enumerated() {
            let count = try rows[0][position].int64
            guard count > 0 else { continue }
            findings.append(
                ReverseFinding(
                    kind: .required, table: item.table, column: column.sqlName,
                    message: "\(count) \(count == 1 ? "row has a value" : "rows have values") that devices can't hold. "
                        + "Change \(count == 1 ? "it; this is the row" : "them; these are the rows"):",
                    fix: "SELECT * FROM \(table) WHERE NOT (\(condition));"))
        }
        return findings
    }
}
