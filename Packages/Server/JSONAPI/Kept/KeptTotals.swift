import PostgresClient

/// The number of resources in a list, by the statement that counts them. Its condition includes what the caller may
/// see.
typealias KeptTotals = AnswerCache<PostgresStatement, Int64>

extension PostgresStatement: KeptQuestion {
    var byteCount: Int { sql.utf8.count + parameters.reduce(0) { $0 + $1.byteCount } }
}

extension Int64: KeptAnswer {
    var byteCount: Int { 8 }
}
