public import PostgresClient
import PostgresValues
public import TomboloModel
public import TomboloRules
import TomboloSQL

/// Reads objects as rows, by the schema, for the answers of HTTP services. It finds objects in the trash only if the
/// caller asks for them, and then only those.
public struct RowReader: Sendable {
    public let schema: Schema
    private let source: Source

    private enum Source {
        case pool(PostgresPool)
        case connection(PostgresConnection)
    }

    /// The most rows that one call returns.
    public static let rowLimit = 5_000

    public init(schema: Schema, pool: PostgresPool) {
        self.init(schema: schema, source: .pool(pool))
    }

    /// Reads on the caller's connection.
    public init(schema: Schema, connection: PostgresConnection) {
        self.init(schema: schema, source: .connection(connection))
    }

    private init(schema: Schema, source: Source) {
        self.schema = schema
        self.source = source
    }

    /// Reads on the caller's connection, for instance in a transaction.
    public func on(_ connection: PostgresConnection) -> RowReader {
        RowReader(schema: schema, source: .connection(connection))
    }

    /// Lends a reader whose reads all see the same snapshot of the database.
    nonisolated(nonsending) public func snapshot<Result>(
        _ body: nonisolated(nonsending) (RowReader) async throws -> Result
    ) async throws -> Result {
        guard case .pool(let pool) = source else { return try await body(self) }
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            try await body(on(connection))
        }
    }

    /// The live object with this key, or nil if there is none.
    public func object(_ className: String, id: ObjectId) async throws -> Row? {
        try await object(className, key: .objectId(id))
    }

    private func object(_ className: String, key: Value) async throws -> Row? {
        guard let column = schema[className]?.primaryKey else { return nil }
        let filter = Predicate.compare(PropertyPath(column.name), .equal, key)
        return try await objects(className, matching: filter, limit: 1).first
    }

    /// The live object with this key, for a user who may read it.
    /// - Throws: ``RequestFailure`` with status 404 for other users, as if there were none.
    public func readable(
        _ className: String, id: ObjectId, by subject: Subject, under rules: Rules
    ) async throws -> Row {
        try await readable(className, key: .objectId(id), by: subject, under: rules)
    }

    /// The same for a key of any type.
    package func readable(
        _ className: String, key: Value, by subject: Subject, under rules: Rules
    ) async throws -> Row {
        guard let row = try await object(className, key: key), let index = schema.index(of: className),
            rules.authorize(subject, .read, .object(classIndex: index, old: row, new: nil)).isAllowed
        else { throw RequestFailure.noSuchObject(className) }
        return row
    }

    /// The contents of a list property in some objects: for each owner's key, the targets' keys in order. Targets in
    /// the trash are left out; their elements stay until the targets are restored.
    public func list(_ property: String, of className: String, owners: [Value]) async throws -> [Value: [Value]] {
        guard !owners.isEmpty else { return [:] }
        let name = "\(className).\(property)"
        guard let item = schema[name] else { return [:] }
        var isLive = "TRUE"
        if let target = item.columns[ElementColumn.target].linkTarget.flatMap({ schema[$0] }), target.isTrashable,
            let key = target.primaryKey
        {
            isLive = """
                EXISTS (SELECT 1 FROM \(PostgresSQL.quoteIdentifier(target.table)) "t"
                    WHERE \(PostgresSQL.quoteIdentifier("t", key.sqlName))
                        = \(PostgresSQL.quoteIdentifier("o", item.columns[ElementColumn.target].sqlName))
                        AND \(Self.isIn(trash: false, target, alias: "t")))
                """
        }
        let elements = try query(
            name, matching: .isIn(PropertyPath("owner"), owners), isTrashed: false, sortedBy: ["rank"],
            limit: Self.rowLimit, and: isLive)
        return Self.lists(try await objects(elements))
    }

    /// For each owner's key, the keys of the elements' targets, in the elements' order.
    public static func lists(_ elements: [Row]) -> [Value: [Value]] {
        Dictionary(grouping: elements, by: { $0[ElementColumn.owner] })
            .mapValues { $0.map { $0[ElementColumn.target] } }
    }

    /// The objects that satisfy the filter, ordered by properties and then by key.
    /// - Parameter isTrashed: whether to find objects in the trash instead of live ones.
    public func objects(
        _ className: String, matching filter: Predicate, isTrashed: Bool = false, sortedBy properties: [String] = [],
        limit: Int = Self.rowLimit
    ) async throws -> [Row] {
        guard schema[className] != nil else { return [] }
        return try await objects(
            query(className, matching: filter, isTrashed: isTrashed, sortedBy: properties, limit: limit))
    }

    /// The objects that a query finds.
    func objects(_ query: RowQuery) async throws -> [Row] {
        let (sql, parameters) = (query.statement.sql, query.statement.parameters)
        let result: PostgresResult
        switch source {
        case .pool(let pool): result = try await pool.query(sql, parameters)
        case .connection(let connection): result = try await connection.query(sql, parameters)
        }
        return try result.map { try row($0, of: query.item) }
    }

    /// The query of ``objects(_:matching:isTrashed:sortedBy:limit:)``, for ``snapshot(_:)-([RowQuery])``.
    /// - Throws: ``ValueError`` for a class that the schema lacks.
    public func query(
        _ className: String, matching filter: Predicate, isTrashed: Bool = false, sortedBy properties: [String] = [],
        limit: Int = Self.rowLimit
    ) throws -> RowQuery {
        try query(
            className, matching: filter, isTrashed: isTrashed, sortedBy: properties, limit: limit, and: "TRUE")
    }

    /// - Parameter further: another condition on the row `o`, in SQL.
    private func query(
        _ className: String, matching filter: Predicate, isTrashed: Bool, sortedBy properties: [String], limit: Int,
        and further: String
    ) throws -> RowQuery {
        var builder = try SQLBuilder(.postgresql, schema: schema, className: className, alias: "o")
        guard let item = schema[className] else { throw ValueError("There is no class \(className).") }
        let condition = try builder.condition(filter)
        let names = properties + [item.primaryKey?.name].compactMap { $0 }
        let order = try builder.orderBy(names.map { SQLSort(PropertyPath($0)) })
        let sql = """
            SELECT \(Self.columns(of: item, alias: "o"))
            FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "o"
            WHERE \(condition) AND \(Self.isIn(trash: isTrashed, item, alias: "o")) AND \(further)
            ORDER BY \(order.isEmpty ? "1" : order) LIMIT \(limit)
            """
        return RowQuery(
            statement: PostgresStatement(sql, try builder.parameters.map { try PostgresParameter($0) }), item: item)
    }

    /// The rows of several queries, from one snapshot and in one round trip to the database.
    public func snapshot(_ queries: [RowQuery]) async throws -> [[Row]] {
        let statements = queries.map(\.statement)
        let results: [PostgresResult]
        switch source {
        case .pool(let pool):
            results = try await pool.withConnection { connection in
                try await connection.transaction(isolation: .repeatableRead, readOnly: true, first: statements) {
                    ($0, [])
                }.0
            }
        case .connection(let connection): results = try await connection.pipeline(statements)
        }
        return try zip(results, queries).map { result, query in try result.map { try row($0, of: query.item) } }
    }

    /// Like ``objects(_:matching:isTrashed:sortedBy:limit:)``, with the properties of a model class.
    public func objects<Class: Object>(
        _ table: ClassTable<Class>, matching filter: Predicate, sortedBy properties: [PartialKeyPath<Class>] = []
    ) async throws -> [ClassRow<Class>] {
        try await objects(
            table.item.name, matching: filter, sortedBy: properties.map { PropertyPath(of: $0).description }
        ).map(table.row)
    }

    /// Decodes a result row whose first columns are ``columns(of:alias:)``.
    public func row(_ source: PostgresRow, of item: ClassSchema) throws -> Row {
        Row(
            try item.columns.enumerated().map { index, column in
                try source[index].value(of: schema.storedType(of: column))
            })
    }

    /// The class's columns in order, for a SELECT.
    public static func columns(of item: ClassSchema, alias: String) -> String {
        item.columns.map { PostgresSQL.quoteIdentifier(alias, $0.sqlName) }.joined(separator: ", ")
    }

    /// The condition that an object is, or isn't, in the trash.
    public static func isIn(trash: Bool, _ item: ClassSchema, alias: String) -> String {
        guard item.isTrashable else { return trash ? "FALSE" : "TRUE" }
        return "\(PostgresSQL.quoteIdentifier(alias, TrashColumns.when)) IS \(trash ? "NOT NULL" : "NULL")"
    }
}
