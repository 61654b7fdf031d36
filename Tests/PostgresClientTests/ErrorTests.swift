import PostgresClient
import TestSupport
import Testing

@Suite struct ErrorTests {
    @Test("A constraint violation names constraint, table and call site, and shows no values")
    func violation() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE person (email text CONSTRAINT one_email UNIQUE)")
        let sql = "INSERT INTO person VALUES ($1)"
        try await connection.query(sql, ["secret@example.org"])
        let line = #line + 1
        let error = await PostgresTest.error { try await connection.query(sql, ["secret@example.org"]) }
        let found = try #require(error)
        #expect(found.code == .uniqueViolation)
        #expect(found.isRefusal && !found.isRetryable)
        #expect(found.constraintName == "one_email" && found.tableName == "person" && found.schemaName == "public")
        #expect(found.sql == sql)
        #expect(found.file?.hasSuffix("ErrorTests.swift") == true && found.line == line)
        #expect(found.detail?.contains("secret") == true)
        #expect(found.description.contains("23505") && found.description.contains("one_email"))
        #expect(found.description.contains(sql))
        for text in ["\(found)", String(reflecting: found), found.localizedText] {
            #expect(!text.contains("secret"))
        }
    }

    @Test("A description doesn't quote the value the server rejected")
    func badValue() async throws {
        let connection = try await PostgresTest.connect()
        let error = await PostgresTest.error {
            try await connection.query("SELECT $1::int8", [.untyped(#"a"secret"b"#)])
        }
        #expect(error?.code == .invalidTextRepresentation)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.message.contains("secret") == true)
    }

    @Test("A syntax error has its position, and an unknown column the server's suggestion")
    func hints() async throws {
        let connection = try await PostgresTest.connect()
        let syntax = await PostgresTest.error { try await connection.query("SELECT 1 FRM x") }
        #expect(syntax?.code == .syntaxError)
        #expect(syntax?.position == 14)
        let column = await PostgresTest.error { try await connection.query("SELECT oidd FROM pg_class") }
        #expect(column?.code == .undefinedColumn)
        #expect(column?.hint?.contains("pg_class.oid") == true)
        #expect(column?.description.contains("pg_class.oid") == true)
    }

    @Test(
        "Lost connections, deadlocks and full servers are retryable, not refusals",
        arguments: ["08006", "40001", "53300", "55P03", "57P01", "58030"])
    func retryableClasses(code: String) {
        let error = PostgresError(code: PostgresSQLState(rawValue: code), message: "")
        #expect(error.isRetryable && !error.isRefusal)
    }

    @Test(
        "Bad data and violated constraints are refusals, not retryable",
        arguments: ["22003", "23505"])
    func refusalClasses(code: String) {
        let error = PostgresError(code: PostgresSQLState(rawValue: code), message: "")
        #expect(error.isRefusal && !error.isRetryable)
    }

    @Test(
        "Of the program limits, only the one that data can hit is a refusal",
        arguments: [
            ("54000", true), ("54001", false), ("54011", false), ("54023", false),
        ])
    func limits(code: String, isRefusal: Bool) {
        let error = PostgresError(code: PostgresSQLState(rawValue: code), message: "")
        #expect(error.isRefusal == isRefusal && !error.isRetryable)
    }

    @Test("A failed connect has the server's code and says whether a retry can help")
    func connectErrors() async throws {
        let cluster = try await TestCluster.shared()
        let noDatabase = await PostgresTest.error {
            _ = try await PostgresConnection.connect(cluster.configuration.database("missing"))
        }
        #expect(noDatabase?.code == .invalidCatalogName)
        #expect(noDatabase?.isRetryable == false)
        var elsewhere = cluster.configuration
        elsewhere.keywords["port"] = "1"
        let noServer = await PostgresTest.error { _ = try await PostgresConnection.connect(elsewhere) }
        #expect(noServer?.code == .unableToConnect)
        #expect(noServer?.isRetryable == true)
        #expect(noServer?.hint != nil)
    }

    @Test("No description, dump or error shows the password")
    func passwords() throws {
        let configuration = try PostgresConfiguration("postgresql://me:s3cret@db.example.org:6543/app?sslmode=require")
        #expect(configuration.keywords["password"] == "s3cret")
        #expect(configuration.keywords["host"] == "db.example.org")
        #expect(configuration.database == "app")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("s3cret"))
        }
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration("postgresql://me:s3cret@[h/app") }
        #expect(error?.description.contains("s3cret") == false)
    }
}

extension PostgresError {
    fileprivate var localizedText: String {
        "\(self as any Error)"
    }
}
