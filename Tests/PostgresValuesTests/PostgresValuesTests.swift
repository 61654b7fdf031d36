import Foundation
import PostgresClient
import PostgresValues
import RandomValues
import TestSupport
import Testing
import TomboloModel
import TomboloSQL

@Suite struct PostgresValuesTests {
    static let types: [PropertyType] = [
        .bool, .int(bits: 64), .double, .string, .data, .date, .objectId, .uuid, .decimal128,
    ]
    static let connection = Task {
        try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
    }

    @Test("Random values survive a round trip through PostgreSQL, alone and in arrays", arguments: types)
    func roundTrip(_ type: PropertyType) async throws {
        let connection = try await Self.connection.value
        let cast = SQLDialect.postgresql.castType(of: type)
        var random = RandomValues(.printed(for: "PostgreSQL values of type \(type.name)"))
        for _ in 0..<20 {
            let values = (0..<30).map { _ in random.flag(8) ? Value.null : random.value(type) }
            let list = try PostgresParameter(list: values, of: type)
            let rows = try await connection.query("SELECT * FROM unnest($1::\(cast)[])", [list])
            #expect(try rows.map { try $0[0].value(of: type) } == values)
            for value in values.prefix(3) {
                let row = try await connection.query(
                    "SELECT $1::\(cast)", [try PostgresParameter(SQLParameter(value, type))])
                #expect(try row[0][0].value(of: type) == value)
            }
        }
    }

    @Test("A value of another type is refused, alone and in arrays, and never becomes NULL", arguments: types)
    func mismatch(_ type: PropertyType) throws {
        var random = RandomValues(.printed(for: "values that aren't of type \(type.name)"))
        for other in Self.types where other != type {
            let value = random.value(other)
            let message = "A column of type \(type.name) can't hold \(value)."
            #expect(throws: ValueError(message)) { try PostgresParameter(value, as: type) }
            #expect(throws: ValueError(message)) { try PostgresParameter(list: [random.value(type), value], of: type) }
        }
    }

    @Test(
        "A type that no column can have is refused in both directions",
        arguments: [PropertyType.float, .link(to: "Dog")])
    func notStored(_ type: PropertyType) async throws {
        #expect(throws: ValueError.self) { try PostgresParameter(.double(1), as: type) }
        #expect(throws: ValueError.self) { try PostgresParameter(list: [], of: type) }
        let row = try await Self.connection.value.query("SELECT 1.5::float8")
        #expect(throws: ValueError.self) { try row[0][0].value(of: type) }
    }

    @Test("A key that doesn't have 12 bytes is refused, with the number of bytes it has", arguments: [0, 11, 13])
    func shortKey(_ count: Int) async throws {
        let bytes = [UInt8](repeating: 7, count: count)
        let row = try await Self.connection.value.query("SELECT $1::bytea", [.bytea(bytes)])
        #expect(throws: ValueError("An ObjectId has 12 bytes; this one has \(count).")) {
            try row[0][0].value(of: .objectId)
        }
    }
}
