internal import TomboloModel

/// Part of a statement, with the values of its parameters.
struct SQLPart {
    var sql: String
    var values: [Value] = []

    static let null = SQLPart(sql: "NULL")

    static func value(_ value: Value) -> SQLPart { SQLPart(sql: "?", values: [value]) }
}

extension SQLiteConnection {
    func run(_ part: SQLPart) throws {
        let statement = try statement(part.sql)
        for (index, value) in part.values.enumerated() { statement.bind(value, at: index + 1) }
        try statement.run()
        statement.clear()
    }
}
