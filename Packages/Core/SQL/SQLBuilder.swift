public import TomboloModel

/// Renders expressions on the rows of one class and collects their parameters. To use several expressions in one
/// statement, request them from the same builder in the order in which their placeholders appear, because SQLite counts
/// placeholders by position.
///
///     var builder = SQLBuilder(.postgresql, schema: schema, className: "Listing", alias: "l")
///     let condition = try builder.condition(predicate)
///     let order = try builder.orderBy([SQLSort(PropertyPath("price"))])
///     // SELECT … FROM "listing" AS "l" WHERE \(condition) ORDER BY \(order), with builder.parameters
public struct SQLBuilder: Sendable {
    /// The database that the SQL is for.
    public let dialect: SQLDialect
    /// The schema that class and property names refer to.
    public let schema: Schema
    /// The class whose rows the expressions are about.
    public let className: String
    /// The name of the class's table in the statement.
    public let alias: String
    /// The values of the placeholders, in order.
    public private(set) var parameters: [SQLParameter] = []
    /// A condition that says whether an object counts as existing when a path follows a link to it, given its class and
    /// table alias. A link to an object that doesn't count as existing is null. If nil, every object counts.
    public var isReached: (@Sendable (_ target: ClassSchema, _ alias: String) -> String)?
    private let firstParameter: Int
    /// The number of named subquery tables.
    var aliasCount = 0
    /// For SQLite, a table with the columns `list` and `value`. Literal lists that would exceed
    /// ``maximumParameterCount`` are looked up there by their position in ``lists``. If nil, every literal is bound.
    public var listTable: String?
    /// The lists that ``listTable`` must hold when the statement runs.
    public internal(set) var lists: [[Value]] = []
    /// The maximum number of parameters used for lists. SQLite allows 32,766 in all.
    public static let maximumParameterCount = 10_000

    /// - Parameters:
    ///   - alias: the name of the class's table in the statement, or nil for the table's own name.
    ///   - firstParameter: the number of the first placeholder, for PostgreSQL.
    /// - Throws: ``ValueError`` if the schema doesn't have the class.
    public init(
        _ dialect: SQLDialect, schema: Schema, className: String, alias: String? = nil, firstParameter: Int = 1
    ) throws(ValueError) {
        guard let item = schema[className] else {
            throw ValueError("There is no class \(className) in the schema.")
        }
        self.dialect = dialect
        self.schema = schema
        self.className = className
        self.alias = alias ?? item.table
        self.firstParameter = firstParameter
    }

    /// Adds a parameter and returns its placeholder.
    public mutating func bind(_ value: Value, _ type: PropertyType) -> String {
        parameters.append(SQLParameter(value, type))
        return dialect.placeholder(firstParameter + parameters.count - 1)
    }

    /// Adds a list of any length as one array parameter, because PostgreSQL limits a statement to 65,535 parameters.
    mutating func bind(list: [Value], _ type: PropertyType) -> String {
        parameters.append(SQLParameter(list: list, type))
        return dialect.placeholder(firstParameter + parameters.count - 1)
    }

    /// A condition that is TRUE or FALSE, never NULL, and agrees with ``Predicate/evaluate(_:)`` on every row. A plain
    /// comparison is rendered as `"column" = placeholder`, so that an index on the column can be used.
    /// - Throws: ``ValueError`` if the predicate doesn't fit the class.
    public mutating func condition(_ predicate: Predicate) throws(ValueError) -> String {
        try predicate.check(for: className, in: schema, isBounded: false)
        return try render(predicate, negated: false)
    }

    /// A condition in the whole query language that is TRUE or FALSE, never NULL. SQLite only. Comparing strings with
    /// options, or with LIKE, needs the functions `text_fold` and `text_like`.
    /// - Throws: ``ValueError`` if the condition doesn't fit the class.
    public mutating func condition(_ filter: Filter) throws(ValueError) -> String {
        guard dialect == .sqlite else {
            throw ValueError("Only SQLite evaluates the whole query language; on the server, use predicates.")
        }
        try filter.check(for: className, in: schema)
        return try render(filter.withoutImpossibleLiterals, [rootScope], negated: false)
    }

    /// An aggregate over a statement's rows, as one of its result columns: `max("o"."price")`. It ignores nil. Without
    /// any values, the sum is 0 and the other aggregates are NULL.
    /// - Returns: the SQL, and the stored type of the result.
    /// - Throws: ``ValueError`` if the path doesn't exist or its values have no such aggregate.
    public func aggregate(
        _ aggregate: FilterOperand.Aggregate, of path: PropertyPath
    ) throws(ValueError) -> (sql: String, type: PropertyType) {
        let value = try sortable(path)
        switch (value.type, aggregate) {
        case (.int, _), (.double, _), (.decimal128, _), (.date, .min), (.date, .max): break
        default:
            throw ValueError(
                "\(className).\(path) is of type \(value.type.name), which has no \(aggregate.rawValue).")
        }
        let result = Self.aggregate(aggregate, of: value)
        return (result.sql, result.type)
    }

    /// Numbers rows that have equal values at the given paths, starting at 1, so that the rows with number 1 are
    /// distinct. Each of these is the first of its group in the given order. Rows from which a path leads nowhere don't
    /// count; see ``arrives(at:)``.
    /// - Parameter order: the keys of an ORDER BY.
    /// - Throws: ``ValueError`` if the path doesn't exist.
    public func distinctNumber(_ paths: [PropertyPath], orderBy order: String) throws(ValueError) -> String {
        var keys: [String] = []
        for path in paths { keys.append(try sortable(path).comparable) }
        return "row_number() OVER (PARTITION BY \(keys.joined(separator: ", ")) ORDER BY \(order))"
    }

    /// The keys of an ORDER BY, without these two words. As in Realm, nil comes first in ascending and last in descending
    /// order, in both databases. Values behind a missing link or embedded object come last in ascending order.
    /// - Throws: ``ValueError`` if the path doesn't exist.
    public func orderBy(_ sorts: [SQLSort]) throws(ValueError) -> String {
        var keys: [String] = []
        for sort in sorts {
            let direction = sort.isAscending ? "ASC" : "DESC"
            // PostgreSQL treats NULL as the greatest value, SQLite as the least.
            let nulls = sort.isAscending ? " NULLS FIRST" : " NULLS LAST"
            for (key, isOptional) in try sortKeys(sort.path) {
                keys.append("\(key) \(direction)\(dialect == .postgresql && isOptional ? nulls : "")")
            }
        }
        return keys.joined(separator: ", ")
    }

    /// The expressions to compare when sorting by a path, all in the same direction.
    /// - Throws: ``ValueError`` if the path doesn't exist.
    public func sortKeys(_ path: PropertyPath) throws(ValueError) -> [(sql: String, isOptional: Bool)] {
        let operand = try sortable(path)
        var keys: [(sql: String, isOptional: Bool)] = []
        if let arrives = try arrives(at: path) { keys.append(("(NOT \(arrives))", false)) }
        // PostgreSQL sorts a decimal NaN above all numbers.
        if dialect == .postgresql, operand.isDecimal { keys.append(("(\(operand.sql) <> 'NaN')", operand.isOptional)) }
        keys.append((dialect == .sqlite ? operand.comparable : operand.sql, operand.isOptional))
        return keys
    }
}
