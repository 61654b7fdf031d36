internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

extension RowIDSet {
    /// The array as `[1,2,3]`, for SQLite's `json_each`. That way a list of any length is one parameter.
    var json: String {
        var text = "["
        var isFirst = true
        for rowID in self {
            if !isFirst { text += "," }
            isFirst = false
            text += String(rowID)
        }
        return text + "]"
    }
}

extension TableLayout {
    /// The condition that selects a row `h`, and its parameter. Uses the key if there is one, because then the rowid
    /// may change.
    func condition(onRow rowID: Int64, _ key: Value?) -> (sql: String, parameter: Value) {
        key.map { ("h.\(self.key) = ?", $0) } ?? ("h.rowid = ?", .int(rowID))
    }
}

extension RealmCore {
    /// The first column of every row of a statement's result.
    /// - Parameter parameters: by position, from 1.
    func rowIDs(_ sql: String, _ parameters: [Value]) throws -> [Int64] {
        let statement = try connection.statement(sql)
        defer { statement.clear() }
        for (index, parameter) in parameters.enumerated() { statement.bind(parameter, at: index + 1) }
        var result: [Int64] = []
        while try statement.step() { result.append(statement.integer(at: 0)) }
        return result
    }
}
