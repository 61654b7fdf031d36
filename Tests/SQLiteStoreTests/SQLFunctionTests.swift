import DeviceStoreConformance
import Foundation
import Testing
import TomboloModel
import TomboloSQLiteStore

@Suite("SQL functions")
struct SQLFunctionTests {
    private let folder: TemporaryFolder
    private let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try SQLiteConnection(path: folder.path("functions.sqlite"), durability: .off)
        try connection.run("CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, value TEXT)")
    }

    private func insert(_ values: [String?], kind: Int = 0) throws {
        for value in values {
            let statement = try connection.statement("INSERT INTO item (kind, value) VALUES (?, ?)")
            statement.bind(Int64(kind), at: 1)
            statement.bind(value.map(Value.string) ?? .null, at: 2)
            try statement.run()
        }
    }

    /// The first column of every row, as text; `nil` for NULL.
    private func rows(_ sql: String) throws -> [String?] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        var rows: [String?] = []
        while try statement.step() { rows.append(statement.current.text(at: 0)) }
        return rows
    }

    private func value(_ expression: String) throws -> String? { try rows("SELECT \(expression)")[0] }

    // MARK: Decimals

    @Test("Decimals sort by number, nil first, then NaN, and equal ones form one group")
    func decimalOrder() throws {
        try insert(["10", "9.5", "-1E+3", nil, "NaN", "1.00", "1", "-Inf", "Inf", "0.0", "-0", "1E-6176", "100E-2"])
        #expect(
            try rows("SELECT value FROM item ORDER BY decimal_order(value), id")
                == [
                    nil, "NaN", "-Inf", "-1E+3", "0.0", "-0", "1E-6176", "1.00", "1", "100E-2", "9.5", "10", "Inf",
                ])
        #expect(
            try rows("SELECT count(*) FROM item GROUP BY decimal_order(value) ORDER BY 1 DESC LIMIT 3") == [
                "3", "2", "1",
            ])
        #expect(
            try rows("SELECT value FROM item WHERE decimal_order(value) > decimal_order('9.50') ORDER BY id") == [
                "10", "Inf",
            ])
    }

    @Test("An index on the order of decimals is used and passes the integrity check")
    func decimalIndex() throws {
        try insert((0..<200).map { "\($0 % 50).\($0 % 7)" })
        try connection.run("CREATE INDEX item_value ON item (decimal_order(value))")
        let plan = try connection.statement(
            "EXPLAIN QUERY PLAN SELECT id FROM item WHERE decimal_order(value) = decimal_order('3.30')")
        #expect(try plan.step())
        #expect(plan.text(at: 3).contains("USING INDEX item_value"), "\(plan.text(at: 3))")
        plan.reset()
        #expect(try value("(SELECT count(*) FROM item WHERE decimal_order(value) = decimal_order('3.30'))") == "1")
        #expect(try rows("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Sum, average, minimum and maximum of decimals are exact and skip nil and NaN")
    func decimalAggregates() throws {
        try insert([])
        try insert(Array(repeating: "0.1", count: 10) + [nil, "NaN"], kind: 1)
        try insert(["10", "9", "-1E+1", "0.050"], kind: 2)
        try insert([nil, "NaN"], kind: 3)
        try insert(["Inf", "1"], kind: 4)
        let numbers = "decimal_sum(value), decimal_avg(value), decimal_min(value), decimal_max(value)"
        #expect(
            try rows("SELECT format('%s %s %s %s', \(numbers)) FROM item GROUP BY kind ORDER BY kind")
                == ["1 0.1 0.1 0.1", "9.05 2.2625 -1E+1 10", "0   ", "Inf Inf 1 Inf"])
        for name in ["avg", "min", "max"] {
            #expect(try rows("SELECT decimal_\(name)(value) FROM item WHERE FALSE") == [nil])
            #expect(try rows("SELECT decimal_\(name)(value) FROM item WHERE kind = 3") == [nil])
        }
        #expect(try rows("SELECT decimal_sum(value) FROM item WHERE FALSE") == ["0"])
    }

    @Test("Text that isn't a decimal fails the statement with an error that quotes it, and the next one works")
    func notADecimal() throws {
        try insert(["1", "1,5"])
        for function in ["order", "sum", "avg", "min", "max"] {
            let error = #expect(throws: SQLiteStoreError.self) {
                try rows("SELECT decimal_\(function)(value) FROM item")
            }
            #expect(error?.message.contains("'1,5' is not a Decimal128: unexpected text at byte 1") == true)
        }
        #expect(try value("decimal_sum(12)") == "12")
        #expect(throws: SQLiteStoreError.self) { try value("decimal_order(x'')") }
        #expect(throws: SQLiteStoreError.self) { try value("decimal_order('')") }
    }

    // MARK: Text

    @Test("SQL folds text as predicates do")
    func textFold() throws {
        #expect(try value("text_fold('École Ç', 0)") == "École Ç")
        #expect(try value("text_fold('École Ç', 1)") == "école ç")
        #expect(try value("text_fold('École Ç', 2)") == "Ecole C")
        #expect(try value("text_fold('École Ç', 3)") == "ecole c")
        #expect(try value("text_fold('', 3) = ''") == "1")
        #expect(try value("text_fold(NULL, 3)") == nil)
        #expect(try value("hex(text_fold(cast(x'41c3' AS TEXT), 1))") == "61C3")
    }

    @Test("LIKE has Realm's wildcards, not SQL's, and folds on request")
    func textLike() throws {
        try insert(["hello", "Hällo", "", nil, "h%llo", "help"])
        let like = "SELECT value FROM item WHERE text_like(value, "
        #expect(try rows(like + "'h?l*', 0) ORDER BY id") == ["hello", "h%llo", "help"])
        #expect(try rows(like + "'H?L*', 1) ORDER BY id") == ["hello", "Hällo", "h%llo", "help"])
        #expect(try rows(like + "'*a*', 3) ORDER BY id") == ["Hällo"])
        #expect(try rows(like + "'h%llo', 0)") == ["h%llo"])
        #expect(try rows(like + "'*', 0)").count == 5)
        #expect(try rows(like + "'', 0)") == [""])
        #expect(try rows(like + "NULL, 0)") == [])
    }

    @Test("Pattern and options may differ from row to row")
    func changingPattern() throws {
        let statement = try connection.statement("SELECT text_like('Apple', ?, ?)")
        for (pattern, options, expected) in [("A*", 0, 1), ("a*", 0, 0), ("a*", 1, 1), ("A*", 1, 1)] {
            statement.bind(.string(pattern), at: 1)
            statement.bind(Int64(options), at: 2)
            #expect(try statement.step())
            #expect(statement.integer(at: 0) == expected)
            statement.reset()
        }
        try insert(["apple", "A*", "a*", "*E"])
        #expect(
            try rows("SELECT value FROM item WHERE text_like('Apple', value, id % 2) ORDER BY id")
                == ["apple", "A*", "a*"])
    }
}
