public import TomboloModel

/// Renders expressions on the rows of one class, and collects the parameters of the statement that they become part
/// of. Several expressions may go into one statement: ask the same builder for them in the order of their
/// placeholders, which matters in SQLite.
///
///     var builder = SQLBuilder(.postgresql, schema: schema, className: "Listing", alias: "l")
///     let condition = try builder.condition(predicate)
///     let order = try builder.orderBy([SQLSort(PropertyPath("price"))])
///     // SELECT … FROM "listing" AS "l" WHERE \(condition) ORDER BY \(order), with builder.parameters
public struct SQLBuilder: Sendable {
    public let dialect: SQLDialect
    public let schema: Schema
    public let className: String
    /// The name by which the class's table goes in the statement.
    public let alias: String
    /// What the placeholders stand for, in order.
    public private(set) var parameters: [SQLParameter] = []
    private let firstParameter: Int
    /// How many tables of subqueries have a name.
    var aliasCount = 0
    /// For SQLite: a table with the columns `list` and `value`. Lists of literals that would make more parameters than
    /// ``maximumParameterCount`` are looked up there, by their position in ``lists``; without it every literal is bound.
    public var listTable: String?
    /// What ``listTable`` must hold when the statement runs.
    public internal(set) var lists: [[Value]] = []
    /// The most parameters that lists may fill; SQLite allows 32,766 in all.
    public static let maximumParameterCount = 10_000

    /// - Parameters:
    ///   - alias: the name of the class's table in the statement; the table's own name where nil.
    ///   - firstParameter: the number of the first placeholder, for PostgreSQL.
    /// - Throws: ``ValueError`` for a class that the schema does not have.
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

    /// Adds a list as one parameter, an array, of which PostgreSQL takes any length: the parameters of a statement are
    /// at most 65,535.
    mutating func bind(list: [Value], _ type: PropertyType) -> String {
        parameters.append(SQLParameter(list: list, type))
        return dialect.placeholder(firstParameter + parameters.count - 1)
    }

    /// A condition that is TRUE or FALSE, never NULL, and equals ``Predicate/evaluate(_:)`` on every row. A plain
    /// comparison stays visible as `"column" = placeholder`, so that an index on the column serves it.
    /// - Throws: ``ValueError`` where the predicate does not fit the class.
    public mutating func condition(_ predicate: Predicate) throws(ValueError) -> String {
        try predicate.check(for: className, in: schema, isBounded: false)
        return try render(predicate, negated: false)
    }

    /// A condition of the whole query language, TRUE or FALSE, never NULL; in SQLite only. Needs the functions
    /// `text_fold` and `text_like` where text is compared with options or by LIKE.
    /// - Throws: ``ValueError`` where the condition does not fit the class.
    public mutating func condition(_ filter: Filter) throws(ValueError) -> String {
        guard dialect == .sqlite else {
            throw ValueError("Only SQLite evaluates the whole query language; on the server, use predicates.")
        }
        try filter.check(for: className, in: schema)
        return try render(filter.withoutImpossibleLiterals, [rootScope], negated: false)
    }

    /// An aggregate over the rows of a statement, as one of its results: `max("o"."price")`. Nils do not count; of no
    /// values the sum is 0 and the others are NULL.
    /// - Returns: the SQL, and the stored type of the result.
    /// - Throws: ``ValueError`` for a path that does not exist, or whose values have no such aggregate.
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

    /// Numbers the rows that have the same values at several paths, from 1: those numbered 1 are the distinct ones, the
    /// first of each in an order. Only rows from which all the paths lead somewhere count: see ``arrives(at:)``.
    /// - Parameter order: the keys of an ORDER BY.
    /// - Throws: ``ValueError`` for a path that does not exist.
    public func distinctNumber(_ paths: [PropertyPath], orderBy order: String) throws(ValueError) -> String {
        var keys: [String] = []
        for path in paths { keys.append(try sortable(path).comparable) }
        return "row_number() OVER (PARTITION BY \(keys.joined(separator: ", ")) ORDER BY \(order))"
    }

    /// The keys of an ORDER BY, without those words. Nil comes first in ascending order and last in descending, in
    /// both databases, as in Realm; and as there, what a link or an embedded object that is not there would lead to comes
    /// last in ascending order.
    /// - Throws: ``ValueError`` for a path that does not exist.
    public func orderBy(_ sorts: [SQLSort]) throws(ValueError) -> String {
        var keys: [String] = []
        for sort in sorts {
            let direction = sort.isAscending ? "ASC" : "DESC"
            // PostgreSQL thinks of NULL as the greatest value, SQLite as the least.
            let nulls = sort.isAscending ? " NULLS FIRST" : " NULLS LAST"
            for (key, isOptional) in try sortKeys(sort.path) {
                keys.append("\(key) \(direction)\(dialect == .postgresql && isOptional ? nulls : "")")
            }
        }
        return keys.joined(separator: ", ")
    }

    /// What is compared to sort by a path, all of it in the same direction.
    /// - Throws: ``ValueError`` for a path that does not exist.
    public func sortKeys(_ path: PropertyPath) throws(ValueError) -> [(sql: String, isOptional: Bool)] {
        let operand = try sortable(path)
        var keys: [(sql: String, isOptional: Bool)] = []
        if let arrives = try arrives(at: path) { keys.append(("(NOT \(arrives))", false)) }
        // PostgreSQL thinks of a decimal NaN as greater than all numbers.
        if dialect == .postgresql, operand.isDecimal { keys.append(("(\(operand.sql) <> 'NaN')", operand.isOptional)) }
        keys.append((dialect == .sqlite ? operand.comparable : operand.sql, operand.isOptional))
        return keys
    }
}
