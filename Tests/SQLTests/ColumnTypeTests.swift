import Foundation
import PostgresClient
import Testing
import TomboloModel
import TomboloSQL

@Suite("Column types")
struct ColumnTypeTests {
    private static func schema() throws -> Schema {
        try Schema([
            ClassSchema(
                name: "T",
                columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)]
                    + RandomRows.scalarTypes.map { Column(name: "\($0.name)X", type: $0, isOptional: true) })
        ])
    }

    @Test("Column definitions contain the type, NOT NULL and checks")
    func definitions() throws {
        let schema = try Schema([
            ClassSchema(name: "A", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)]),
            ClassSchema(
                name: "B",
                columns: [
                    Column(name: "_id", type: .uuid, isPrimaryKey: true), Column(name: "small", type: .int(bits: 8)),
                    Column(name: "a", type: .link(to: "A"), isOptional: true),
                    Column(name: "text", type: .string, isOptional: true),
                ]),
        ])
        let columns = schema.classes[1].columns
        #expect(
            columns.map { SQLDialect.postgresql.columnDefinition(of: $0, in: schema) } == [
                "\"_id\" uuid NOT NULL",
                "\"small\" bigint NOT NULL CHECK (\"small\" BETWEEN -128 AND 127)",
                "\"a\" bytea CHECK (octet_length(\"a\") = 12)",
                "\"text\" text COLLATE \"C\" CHECK (octet_length(\"text\") <= 16777216)",
            ])
        #expect(
            columns.map { SQLDialect.sqlite.columnDefinition(of: $0, in: schema) } == [
                "\"_id\" BLOB NOT NULL", "\"small\" INTEGER NOT NULL", "\"a\" BLOB", "\"text\" TEXT",
            ])
    }

    @Test("PostgreSQL refuses from any writer what devices refuse")
    func constraints() async throws {
        let schema = try Self.schema()
        let database = try await PostgresDatabase(schema)
        for (column, value) in [
            ("int8_x", "128"), ("int8_x", "-129"), ("int16_x", "32768"), ("int32_x", "2147483648"),
            ("double_x", "'NaN'"), ("date_x", "'infinity'"), ("date_x", "'-infinity'"),
            ("date_x", "'10000-01-01 00:00:00+00'"), ("date_x", "'0001-12-31 23:59:59.999999+00 BC'"),
            ("object_id_x", "'\\x0102'"), ("string_x", "repeat('x', 16777217)"),
            ("data_x", "repeat('x', 16777217)::bytea"),
            // Numbers with more than 34 digits, wherever the point is, or beyond the range of exponents.
            ("decimal128_x", "12345678901234567890123456789012345"),
            ("decimal128_x", "1234567890123456789012345678901.2345"),
            ("decimal128_x", "-0.12345678901234567890123456789012345"), ("decimal128_x", "1e6144 + 1"),
            ("decimal128_x", "repeat('9', 100000)::numeric"), ("decimal128_x", "1e6145"), ("decimal128_x", "-1e100000"),
            ("decimal128_x", "1e-6177"), ("decimal128_x", "1e-16000"), ("decimal128_x", "1.5e-6176"),
        ] {
            let error = await #expect(throws: PostgresError.self, "\(column) \(value)") {
                try await database.pool.execute("INSERT INTO t (_id, \(column)) VALUES (1, \(value))")
            }
            #expect(error?.code == "23514", "\(column) \(value)")
        }
        for (column, value) in [
            ("int8_x", "127"), ("int8_x", "-128"), ("double_x", "'Infinity'"), ("double_x", "'-0'"),
            ("date_x", "'9999-12-31 23:59:59.999999+00'"), ("date_x", "'0001-01-01 00:00:00+00'"),
            ("decimal128_x", "'NaN'"), ("decimal128_x", "'-Infinity'"), ("decimal128_x", "-0.00"),
            ("decimal128_x", "1234567890123456789012345678901234"),
            ("decimal128_x", "0.1234567890123456789012345678901234"),
            ("decimal128_x", "9999999999999999999999999999999999e6111"), ("decimal128_x", "-1e-6176"),
            ("decimal128_x", "1234567890123456789012345678901234e-6176"),
            ("decimal128_x", "('1.' || repeat('0', 16000))::numeric"),
            ("object_id_x", "'\\x000102030405060708090a0b'"), ("string_x", "repeat('x', 16777216)"),
        ] {
            try await database.pool.execute("INSERT INTO t (_id, \(column)) VALUES (1, \(value))")
        }
        await database.pool.shutdown()
    }

    @Test("Every type's zero is a constant in both databases and reads back as zero")
    func zeros() async throws {
        let schema = try Self.schema()
        let light = try SQLiteDatabase(schema)
        let heavy = try await PostgresDatabase(schema)
        for type in RandomRows.scalarTypes {
            let value = "SELECT \(SQLDialect.sqlite.zeroLiteral(of: type))"
            #expect(try light.values(value, [], type) == [type.zero], "\(type)")
            let cast = SQLDialect.postgresql.castType(of: type)
            let literal = SQLDialect.postgresql.zeroLiteral(of: type)
            #expect(try await heavy.values("SELECT (\(literal))::\(cast)", [], type) == [type.zero], "\(type)")
        }
        await heavy.pool.shutdown()
    }

    @Test("Identifiers and constants are quoted")
    func quoting() {
        #expect(SQLDialect.sqlite.quoted("a\"b") == "\"a\"\"b\"")
        #expect(SQLDialect.postgresql.literal("it's") == "'it''s'")
        #expect(SQLDialect.postgresql.placeholder(3) == "$3")
        #expect(SQLDialect.sqlite.placeholder(3) == "?")
    }
}
