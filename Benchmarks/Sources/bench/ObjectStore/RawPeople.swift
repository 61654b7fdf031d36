import Foundation

/// People in a table of the same definition, through SQLite's C API with prepared statements. Not thread-safe.
final class RawPeople: PeopleStore {
    private let file: SQLiteFile
    private let table: String
    /// Quoted, in the order of the class's properties.
    private let columns: [String]
    private var statements: [String: SQLiteRowStatement] = [:]

    /// Opens a file created by a ``Realm`` or ``init(path:definitions:)``.
    init(path: String) throws {
        file = try SQLiteFile(path: path)
        try file.useRealmSettings()
        table = StorePerson.tableName
        columns = try file.texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").map { "\"\($0)\"" }
        guard columns.count == 6 else {
            throw BenchError("The table has the columns \(columns): the raw side writes six.")
        }
    }

    /// Creates a file.
    convenience init(path: String, definitions: [String]) throws {
        let file = try SQLiteFile(path: path)
        try file.useRealmSettings()
        for definition in definitions { try file.execute(definition) }
        try self.init(path: path)
    }

    /// The SQL of the table and its indexes in a file created by a ``Realm``.
    static func definitions(in path: String) throws -> [String] {
        try SQLiteFile(path: path).texts(
            "SELECT sql FROM sqlite_schema WHERE tbl_name = '\(StorePerson.tableName)' AND sql IS NOT NULL")
    }

    private func statement(_ sql: String) throws -> SQLiteRowStatement {
        if let known = statements[sql] { return known }
        let statement = try file.prepare(sql)
        statements[sql] = statement
        return statement
    }

    private func transaction(_ body: () throws -> Void) throws {
        try statement("BEGIN IMMEDIATE").run()
        try body()
        try statement("COMMIT").run()
    }

    private func insertStatement() throws -> SQLiteRowStatement {
        try statement("INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (?, ?, ?, ?, ?, ?)")
    }

    private func run(_ insert: SQLiteRowStatement, _ values: PersonValues) throws {
        insert.bind(Int64(values.key), at: 1)
        insert.bind(Int64(values.age), at: 3)
        insert.bind(values.score, at: 4)
        insert.bind(values.isActive ? 1 : 0 as Int64, at: 5)
        insert.bind(Int64((values.createdAt.timeIntervalSince1970 * 1e6).rounded()), at: 6)
        try insert.run(text: values.name, at: 2)
    }

    func insert(_ people: [PersonValues]) throws {
        let insert = try insertStatement()
        try transaction {
            for values in people { try run(insert, values) }
        }
    }

    func insertOneByOne(_ people: [PersonValues]) throws {
        let insert = try insertStatement()
        for values in people {
            try transaction { try run(insert, values) }
        }
    }

    func rowCount() throws -> Int { Int(try file.integer("SELECT count(*) FROM \(table)")) }

    func count(olderThan age: Int) throws -> Int {
        let select = try statement("SELECT count(*) FROM \(table) WHERE \(columns[2]) > ?")
        defer { select.reset() }
        select.bind(Int64(age), at: 1)
        return try select.step() ? Int(select.integer(0)) : 0
    }

    func readAll() throws -> Int {
        let select = try statement("SELECT \(columns[1]), \(columns[2]) FROM \(table)")
        defer { select.reset() }
        var sum = 0
        while try select.step() { sum += select.text(0).utf8.count + Int(select.integer(1)) }
        return sum
    }

    /// In a read transaction, since a Realm is always in one.
    func lookUp(_ keys: [Int]) throws -> Int {
        let select = try statement("SELECT \(columns[2]) FROM \(table) WHERE \(columns[0]) = ?")
        var sum = 0
        try statement("BEGIN").run()
        for key in keys {
            select.bind(Int64(key), at: 1)
            if try select.step() { sum += Int(select.integer(0)) }
            select.reset()
        }
        try statement("COMMIT").run()
        return sum
    }

    /// Reads keys and scores first, since a table shouldn't change under a cursor.
    func raiseScores() throws {
        let select = try statement("SELECT \(columns[0]), \(columns[3]) FROM \(table)")
        let update = try statement("UPDATE \(table) SET \(columns[3]) = ? WHERE \(columns[0]) = ?")
        try transaction {
            var people: [(key: Int64, score: Double)] = []
            while try select.step() { people.append((select.integer(0), select.double(1))) }
            select.reset()
            for person in people {
                update.bind(person.score + 1, at: 1)
                update.bind(person.key, at: 2)
                try update.run()
            }
        }
    }

    func delete(ages: Range<Int>) throws {
        let delete = try statement("DELETE FROM \(table) WHERE \(columns[2]) >= ? AND \(columns[2]) < ?")
        delete.bind(Int64(ages.lowerBound), at: 1)
        delete.bind(Int64(ages.upperBound), at: 2)
        try transaction { try delete.run() }
    }

    /// Without a limit, since a live result has none: SQLite sorts everything and returns the first rows.
    func firstByScore(_ count: Int) throws -> Int {
        let select = try statement("SELECT \(columns[1]), \(columns[3]) FROM \(table) ORDER BY \(columns[3]), rowid")
        defer { select.reset() }
        var check = 0
        for _ in 0..<count {
            guard try select.step() else { break }
            check += select.text(0).utf8.count + Int(select.double(1) * 1_000)
        }
        return check
    }
}
