import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloSQL
import TomboloLocalization

/// Reads a page of the audit log, newest first. Whatever the caller may not see is ignored entirely: conditions don't
/// test it, and an entry with nothing else is left out.
struct AuditQuery {
    /// The time limit for one page. Finding something rare means reading everything that doesn't match.
    static let statementTimeout = Duration.seconds(5)

    let view: AuditView
    let filter: AuditFilter
    private var parameters: [PostgresParameter] = []

    init(_ view: AuditView, _ filter: AuditFilter) {
        self.view = view
        self.filter = filter
    }

    /// - Throws: ``RequestFailure``: 400 and 403 like `AuditView.classes(named:)`, 422 for a search that takes too
    ///   long.
    static func page(
        _ view: AuditView, _ filter: AuditFilter, _ connection: PostgresConnection
    ) async throws -> JSON {
        var query = AuditQuery(view, filter)
        let sql = try query.sql()
        do {
            try await connection.limitStatements(to: statementTimeout.patient)
            let rows = try await connection.query(sql, query.parameters)
            let upTo = try await connection.query(
                "SELECT CASE WHEN tick IS NOT NULL THEN at END FROM tombolo.audit_position")
            return try await AuditPage(view: view, limit: filter.limit).json(
                rows, upTo: upTo.first?[0].nonNull?.timestampMicroseconds, connection)
        } catch let error as PostgresError where error.code == .queryCanceled {
            throw RequestFailure(
                .unprocessable,
                localized("The search took longer than \(statementTimeout.components.seconds) seconds."),
                hint: localized("Give a class, an object or a user, or a shorter period with 'from' and 'to'."),
                cause: error)
        }
    }

    /// The only entry that the filter selects, with the values of the columns that the caller may see; nil if the
    /// caller may see none.
    static func entry(
        _ view: AuditView, _ filter: AuditFilter, of item: AuditView.Class, _ connection: PostgresConnection
    ) async throws -> AuditEntry? {
        var query = AuditQuery(view, filter)
        let sql = try query.sql()
        guard let row = try await connection.query(sql, query.parameters).first,
            try row[3].int64 == Int64(item.number)
        else { return nil }
        return AuditEntry(
            id: try row[0].int64, at: try row[1].timestampMicroseconds, operation: try row[6].string,
            before: try AuditPage.values(AuditPage.pairs(row[14]), item, view.schema),
            after: try AuditPage.values(AuditPage.pairs(row[15]), item, view.schema))
    }

    private mutating func parameter(_ value: PostgresParameter) -> String {
        parameters.append(value)
        return "$\(parameters.count)"
    }

    private mutating func sql() throws -> String {
        let classes = try view.classes(named: filter.className)
        var conditions: [String] = []
        var numbers = classes.map { Int64($0.number) }
        if view.seesAll, filter.className == nil {
            numbers += [LoggedValue.logClass, LoggedValue.accountClass, LoggedValue.documentClass].map(Int64.init)
        }
        conditions.append("e.class = ANY (\(parameter(.int64Array(numbers)))::bigint[])")
        if let key = filter.key { conditions.append(keyCondition(key)) }
        if let id = filter.id { conditions.append("e.id = \(parameter(.int64(id)))") }
        if let user = filter.user { conditions.append("e.user_id = \(parameter(.text(user)))") }
        if let from = filter.from { conditions.append("e.at >= \(parameter(.timestamptz(microseconds: from)))") }
        if let to = filter.to { conditions.append("e.at < \(parameter(.timestamptz(microseconds: to)))") }
        if let after = filter.after {
            conditions.append(
                "(e.at, e.id) < (\(parameter(.timestamptz(microseconds: after.at))), \(parameter(.int64(after.id))))")
        }
        if let source = filter.source { conditions.append("e.source = \(parameter(.text(source.code)))::\"char\"") }
        if let operation = filter.operation { conditions.append(Self.condition(operation)) }
        let cases = try classes.map { "WHEN \($0.number) THEN \(try condition($0))" }
        if !cases.isEmpty {
            let others = filter.text == nil ? "true" : "false"
            conditions.append("CASE e.class \(cases.joined(separator: " ")) ELSE \(others) END")
        } else if filter.text != nil {
            conditions.append("false")
        }
        return """
            SELECT e.id, e.at, e.tick, e.class::bigint, e.key, e.root, e.operation::text, e.source::text, e.stamp, \
            e.user_id, e.client, e.role, e.address, e.route, \(Self.pairs("before")), \(Self.pairs("after")), e.secret \
            FROM tombolo.audit_entry e WHERE \(conditions.joined(separator: " AND ")) \
            ORDER BY e.at DESC, e.id DESC LIMIT \(filter.limit + 1)
            """
    }

    /// Matches an object and the elements of its lists.
    private mutating func keyCondition(_ key: String) -> String {
        let place = parameter(.text(key))
        return "(e.key = \(place) OR e.root = \(place))"
    }

    /// An array that alternates the names and texts of an object's members.
    private static func pairs(_ column: String) -> String {
        """
        (SELECT array_agg(v ORDER BY n) FROM (SELECT 2 * n AS n, p.key AS v FROM jsonb_each_text(e.\(column)) \
        WITH ORDINALITY AS p (key, value, n) UNION ALL SELECT 2 * n + 1, p.value FROM jsonb_each_text(e.\(column)) \
        WITH ORDINALITY AS p (key, value, n)) AS m) AS \(column)
        """
    }

    private static func condition(_ operation: AuditFilter.Operation) -> String {
        let trash = LoggedValue.trashColumn
        return switch operation {
        case .create: "e.operation = 'c'"
        case .delete: "e.operation = 'e'"
        case .baseline: "e.operation = 'b'"
        case .gap: "e.operation = 'g'"
        case .update: "(e.operation = 'u' AND e.after -> '\(trash)' IS NULL)"
        case .trash: "(e.operation = 'u' AND e.after ->> '\(trash)' = 'true')"
        case .restore: "(e.operation = 'u' AND e.after ->> '\(trash)' = 'false')"
        }
    }

    /// Matches the entries of a class that the caller may see and searches for.
    private mutating func condition(_ item: AuditView.Class) throws -> String {
        var conditions: [String] = []
        if !item.hidden.isEmpty {
            // Showing that only hidden properties changed would reveal that they did.
            let hidden = parameter(.textArray(item.hidden))
            conditions.append(
                """
                (e.operation <> 'u' OR coalesce(e.before, '{}') - \(hidden)::text[] <> '{}' \
                OR EXISTS (SELECT FROM unnest(e.secret) AS s WHERE s <> ALL (\(hidden)::text[])))
                """)
        }
        if let text = filter.text {
            let (names, wanted) = (parameter(.textArray(item.texts)), parameter(.text(text)))
            conditions.append(
                """
                EXISTS (SELECT FROM (SELECT * FROM jsonb_each_text(e.before) UNION ALL SELECT * FROM \
                jsonb_each_text(e.after)) AS v WHERE v.key = ANY (\(names)::text[]) \
                AND strpos(lower(v.value), lower(\(wanted))) > 0)
                """)
        }
        if case .constant(true) = item.filter {
        } else if let key = item.root.primaryKey {
            let filter = try item.filter.sql(
                .postgresql, className: item.root.name, in: view.schema, alias: "o",
                firstParameter: parameters.count + 1)
            parameters += try filter.parameters.map { try PostgresParameter($0) }
            let logged = item.item.owner == nil ? "e.key" : "e.root"
            conditions.append(
                """
                EXISTS (SELECT FROM \(PostgresSQL.quoteIdentifier(item.root.table)) o \
                WHERE o.\(PostgresSQL.quoteIdentifier(key.sqlName)) = \
                \(LoggedValue.key(logged, view.schema.storedType(of: key))) AND \(filter.sql))
                """)
        }
        return conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    }
}
