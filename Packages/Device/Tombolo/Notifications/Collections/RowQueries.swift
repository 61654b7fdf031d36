internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

extension RowIDSet {
    /// `[1,2,3]`, for SQLite's `json_each`: a list of any length is one parameter.
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
