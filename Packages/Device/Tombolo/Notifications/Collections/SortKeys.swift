internal import TomboloModel
internal import TomboloSQLiteStore

/// The sort keys of rows, read when they are first compared. Valid for one version.
final class SortKeys {
    private let core: RealmCore
    /// Selects the keys of the row whose rowid is the parameter.
    private let sql: String
    private let isAscending: [Bool]
    private var known: [Int64: [StoredValue]] = [:]

    init(_ core: RealmCore, _ sql: String, isAscending: [Bool]) {
        self.core = core
        self.sql = sql
        self.isAscending = isAscending
    }

    private func keys(_ row: Int64) -> [StoredValue] {
        if let keys = known[row] { return keys }
        let keys = core.query {
            let statement = try core.connection.statement(sql)
            defer { statement.reset() }
            statement.bind(row, at: 1)
            guard try statement.step() else { return [StoredValue]() }
            return isAscending.indices.map { statement.stored(at: $0) }
        }
        known[row] = keys
        return keys
    }

    /// Rows with equal keys are in the order of their rowids.
    func precedes(_ left: Int64, _ right: Int64) -> Bool {
        let (a, b) = (keys(left), keys(right))
        for index in 0..<min(a.count, b.count) {
            let difference = a[index].compared(to: b[index])
            if difference != 0 { return (difference < 0) == isAscending[index] }
        }
        return left < right
    }
}
