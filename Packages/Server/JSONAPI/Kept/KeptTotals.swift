import PostgresClient

/// How many resources a list has: the statement that counts them, with the condition of what the caller may see in it.
typealias KeptTotals = AnswerCache<PostgresStatement, Int64>

extension PostgresStatement: KeptQuestion {
    var byteCount: Int { sql.utf8.count + parameters.reduce(0) { $0 + $1.byteCount } }
}

extension Int64: KeptAnswer {
    var byteCount: Int { 8 }
}
