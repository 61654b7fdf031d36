import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct ValueTests {
    @Test("Every scalar type round-trips, extremes included")
    func scalars() async throws {
        let connection = try await PostgresTest.connect()
        func cell(_ parameter: PostgresParameter, _ type: String) async throws -> PostgresCell {
            try await connection.query("SELECT $1::\(type)", [parameter])[0, 0]
        }
        for value in [Int64.min, -1, 0, 1, .max] {
            #expect(try await cell(.int64(value), "int8").int64 == value)
        }
        for value in [Int32.min, -1, 0, .max] {
            #expect(try await cell(.int32(value), "int4").int64 == Int64(value))
        }
        for value in [Int16.min, -1, 0, .max] {
            #expect(try await cell(.int16(value), "int2").int64 == Int64(value))
        }
        for value in [true, false] {
            #expect(try await cell(.bool(value), "bool").bool == value)
        }
        let doubles = [
            0, -0.0, 1.5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1,
        ]
        for value in doubles {
            #expect(try await cell(.double(value), "float8").double.bitPattern == value.bitPattern)
        }
        #expect(try await cell(.double(.nan), "float8").double.isNaN)
        #expect(try await cell(.double(1.5), "float4").double == 1.5)
        for value in ["", "a", "Ünïcødé 👩‍👩‍👧", "quote ' \" \\ \n\t", String(repeating: "x", count: 1_000_000)] {
            #expect(try await cell(.text(value), "text").string == value)
        }
        for value in [[], [0], Array(0...255), [UInt8](repeating: 7, count: 3_000_000)] as [[UInt8]] {
            #expect(try await cell(.bytea(value), "bytea").bytes == value)
            #expect(try await cell(.bytea(Data(value)), "bytea").bytes == value)
        }
        for value in [UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!] {
            #expect(try await cell(.uuid(value), "uuid").uuid == value)
        }
        let times: [Int64] = [
            0, 1, -1, 946_684_800_000_000, 1_763_726_400_123_456, -62_135_596_800_000_000, .min, .max,
        ]
        for value in times {
            #expect(try await cell(.timestamptz(microseconds: value), "timestamptz").timestampMicroseconds == value)
        }
        #expect(try await cell(.json(#"{"a": 1}"#), "json").string == #"{"a": 1}"#)
        #expect(try await cell(.jsonb(#"{"a":1}"#), "jsonb").string == #"{"a": 1}"#)
        let numbers = [
            "0", "-1", "12.50", "0.0001", "-0.00012345", "123456789012345678901234567890.123456789", "10000", "1000000",
            "NaN", "Infinity", "-Infinity", "0.00",
        ]
        for value in numbers {
            #expect(try await cell(.numeric(value), "numeric").string == value)
        }
        let scientific = [
            ("0", "0E0"), ("-1", "-1E0"), ("12.50", "1250E-2"), ("0.0001", "1E-4"), ("-0.00012345", "-12345E-8"),
            ("123456789012345678901234567890.123456789", "123456789012345678901234567890123456781E-9"),
            ("10000", "10000E0"), ("1000000.0", "10000000E-1"), ("NaN", "NaN"), ("-Infinity", "-Infinity"),
            ("0.00", "0E-2"), ("1e100", "1\(String(repeating: "0", count: 39))E61"), ("1e-100", "1E-100"),
            // 40 digits, or as many as fit in groups of four. A final 1 stands for the digits that are cut off.
            ("1.\(String(repeating: "3", count: 50))", "1\(String(repeating: "3", count: 36))1E-37"),
            ("1\(String(repeating: "0", count: 50))7e30", "1\(String(repeating: "0", count: 37))1E43"),
        ]
        for (value, text) in scientific {
            #expect(try await cell(.numeric(value), "numeric").scientific == text)
        }
        let nines = { String(repeating: "9", count: $0) }
        let longest = try await cell(.numeric("-\(nines(131_072)).\(nines(16_383))"), "numeric").scientific
        #expect(longest == "-\(String(repeating: "9", count: 40))1E131031")
        let array = try await cell(.numericArray(["1.50", nil, "Inf", "NaN"]), "numeric[]")
        #expect(array.oid == PostgresOID.numericArray)
    }

    @Test("Timestamps agree with the server's text, and those out of range are errors")
    func times() async throws {
        let connection = try await PostgresTest.connect()
        let row = try await connection.query(
            "SELECT $1::timestamptz = '2025-11-21 12:00:00.123456+00', $2::timestamptz = 'infinity'",
            [.timestamptz(microseconds: 1_763_726_400_123_456), .timestamptz(microseconds: .max)])[0]
        #expect(try row[0].bool)
        #expect(try row[1].bool)
        let late = try await connection.query("SELECT timestamptz '294276-01-01 00:00+00'")
        #expect(throws: PostgresDecodingError.self) { try late[0, 0].timestampMicroseconds }
        let early = await PostgresTest.error {
            try await connection.query("SELECT $1", [.timestamptz(microseconds: .min + 1)])
        }
        #expect(early?.code == .datetimeFieldOverflow)
    }

    @Test("Every type has a null, and decoding null as a value is an error")
    func nulls() async throws {
        let connection = try await PostgresTest.connect()
        let nulls: [PostgresParameter] = [
            .bool(nil), .int16(nil), .int32(nil), .int64(nil), .double(nil), .text(nil), .bytea(nil as [UInt8]?),
            .uuid(nil), .timestamptz(microseconds: nil), .json(nil), .jsonb(nil), .numeric(nil), .null,
        ]
        for null in nulls {
            let cell = try await connection.query("SELECT $1", [null])[0, 0]
            #expect(cell.isNull)
            #expect(cell.nonNull == nil)
            #expect { try cell.string } throws: { ($0 as? PostgresDecodingError)?.reason == .null }
        }
    }

    @Test("Arrays round-trip, with and without nulls")
    func arrays() async throws {
        let connection = try await PostgresTest.connect()
        func cell(_ parameter: PostgresParameter) async throws -> PostgresCell {
            try await connection.query("SELECT $1", [parameter])[0, 0]
        }
        let ids = [UUID(), nil, UUID()]
        #expect(try await cell(.int64Array([.min, nil, .max])).int64Array == [.min, nil, .max])
        #expect(try await cell(.int64Array([])).int64Array == [])
        #expect(try await cell(.int32Array([1, nil])).int64Array == [1, nil])
        #expect(try await cell(.boolArray([true, nil, false])).boolArray == [true, nil, false])
        #expect(try await cell(.doubleArray([0.5, nil])).doubleArray == [0.5, nil])
        #expect(try await cell(.textArray(["", nil, "ü", "{,}\""])).stringArray == ["", nil, "ü", "{,}\""])
        #expect(try await cell(.byteaArray([[], nil, [0, 255]])).bytesArray == [[], nil, [0, 255]])
        #expect(try await cell(.uuidArray(ids)).uuidArray == ids)
        #expect(
            try await cell(.timestamptzArray(microseconds: [0, nil, .max])).timestampMicrosecondsArray
                == [0, nil, .max])
        #expect(try await cell(.jsonbArray(["1", nil])).stringArray == ["1", nil])
    }

    @Test("Arrays insert 1,000 rows through unnest in one statement")
    func unnest() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (id bytea PRIMARY KEY, name text, at timestamptz)")
        let ids = (0..<1_000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let result = try await connection.query(
            "INSERT INTO t SELECT * FROM unnest($1::bytea[], $2::text[], $3::timestamptz[])",
            [
                .byteaArray(ids), .textArray(ids.map { $0[1] % 2 == 0 ? "even" : nil }),
                .timestamptzArray(microseconds: ids.map { Int64($0[1]) }),
            ])
        #expect(result.affectedRows == 1_000)
        let found = try await connection.query(
            "SELECT count(*) FROM t WHERE name IS NULL AND id = ANY($1)",
            [.byteaArray(ids)])
        #expect(try found[0, 0].int64 == 500)
    }

    @Test("Decoding as the wrong type names the column, and an unknown column suggests a similar one")
    func wrongTypes() async throws {
        let connection = try await PostgresTest.connect()
        let result = try await connection.query("SELECT 'text'::text AS name, 1::int8")
        #expect(
            throws: PostgresDecodingError(
                reason: .typeMismatch, column: "name", row: 0, expected: "Int64", foundOID: PostgresOID.text)
        ) { try result[0, 0].int64 }
        #expect { try result[0, "nam"] } throws: {
            ($0 as? PostgresDecodingError)?.description.contains("name") == true
        }
        #expect(throws: PostgresDecodingError.self) { try result[0, 1].string }
    }

    @Test("Results in text form decode like binary ones")
    func textForm() async throws {
        let connection = try await PostgresTest.connect()
        let row = try await connection.execute(
            "SELECT 1; SELECT -5::int8, true, 1.5::float8, 'a', '\\x00ff'::bytea, '-12.5'::numeric")[1][0]
        #expect(try row[0].int64 == -5)
        #expect(try row[1].bool)
        #expect(try row[2].double == 1.5)
        #expect(try row[3].string == "a")
        #expect(try row[4].bytes == [0, 255])
        #expect(try row[5].text == "-12.5")
    }

    @Test("Enums, xids, oids, names and LSNs decode")
    func specialTypes() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
        let row = try await connection.query(
            """
            SELECT 'good'::mood, pg_current_xact_id(), 'pg_class'::regclass::oid, 'n'::name, 'c'::"char",
                pg_current_snapshot()::text, '0/10'::pg_lsn, $1::mood
            """, [.untyped("bad")])[0]
        #expect(try row[0].string == "good")
        #expect(try row[1].int64 > 0)
        #expect(try row[2].int64 == 1259)
        #expect(try row[3].string == "n")
        #expect(try row[4].string == "c")
        #expect(try row[5].string.contains(":"))
        #expect(try row[6].int64 == 16)
        #expect(try row[7].string == "bad")
    }

    @Test("text prints a value as the server does")
    func text() async throws {
        let connection = try await PostgresTest.connect()
        let values = [
            "true", "1::int2", "-7::int8", "1.5::float8", "'x'::text", "'\\x01ff'::bytea", "'-0.50'::numeric",
            "'infinity'::float8", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
        ]
        for value in values {
            let row = try await connection.query("SELECT \(value), (\(value))::text")[0]
            let expected = value == "true" ? "t" : try row[1].string
            #expect(try row[0].text == expected)
        }
    }

    @Test("Texts that the server tells apart are different parameters")
    func equality() {
        let (one, two) = ("\u{E9}", "e\u{301}")
        #expect(one == two, "equal as Swift compares them")
        for (left, right) in [
            (PostgresParameter.text(one), PostgresParameter.text(two)), (.json(one), .json(two)),
            (.jsonb(one), .jsonb(two)), (.untyped(one), .untyped(two)),
        ] {
            #expect(left != right && left == left && right == right)
        }
        #expect(PostgresStatement("SELECT $1", [.text(one)]) != PostgresStatement("SELECT $1", [.text(two)]))
        #expect(PostgresStatement("SELECT '\(one)'") != PostgresStatement("SELECT '\(two)'"))
    }

    @Test("Statements whose literals only look the same aren't mixed up, even when they are prepared")
    func literals() async throws {
        let connection = try await PostgresTest.connect()
        for _ in 0..<3 {
            for text in ["\u{E9}", "e\u{301}"] {
                #expect(try await connection.query("SELECT octet_length('\(text)')")[0, 0].int == text.utf8.count)
            }
        }
        await connection.close()
    }

    @Test("A NUL character is refused in parameters and in SQL")
    func nulCharacters() async throws {
        let connection = try await PostgresTest.connect()
        for parameter in [PostgresParameter.text("a\0b"), .untyped("a\0b")] {
            let error = await PostgresTest.error { try await connection.query("SELECT $1::text", [parameter]) }
            #expect(error?.code == .characterNotInRepertoire)
        }
        let error = await PostgresTest.error { try await connection.query("SELECT 1 --\0 + 1") }
        #expect(error?.code == .syntaxError)
        #expect(try await connection.query("SELECT 1").count == 1)
    }

    @Test("Quoted literals and identifiers survive any characters")
    func quoting() async throws {
        let connection = try await PostgresTest.connect()
        let nasty = "a'b\"c\\d;--\n$1"
        let result = try await connection.execute(
            "SELECT \(PostgresSQL.quoteLiteral(nasty)) AS \(PostgresSQL.quoteIdentifier(nasty))")[0]
        #expect(result.columnNames == [nasty])
        #expect(try result[0, 0].string == nasty)
        #expect(PostgresSQL.quoteIdentifier("s", "t\"") == "\"s\".\"t\"\"\"")
    }
}
