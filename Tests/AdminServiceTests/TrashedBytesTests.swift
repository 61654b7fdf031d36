import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloModel
import TomboloRules

@testable import AdminService

@Suite("Operations on a whole trash group don't read long byte values")
struct TrashedBytesTests {
    @Test("long bytes aren't read, short bytes and nulls are unchanged, and all of them are restored")
    func reading() async throws {
        try await HarbourFixture.with { fixture in
            let id = ObjectId.generate()
            try await fixture.pool.query(
                """
                INSERT INTO ship (_id, name, kind, seal, photo)
                VALUES ($1, 'Gorch', 'ferry', '\\x0102', decode(repeat('00', 100000), 'hex'))
                """, [.bytea(id.bytes)])
            let schema = fixture.rules.schema
            let trash = Trash(schema: schema, pool: fixture.pool)
            _ = try await trash.trash("Ship", .objectId(id), by: nil)
            let members = try await fixture.pool.transaction {
                try await trash.members(of: TrashAddress("Ship", .objectId(id)), $0)
            }
            let item = try #require(schema["Ship"])
            func value(_ name: String) throws -> Value? {
                members.first?.row[try #require(item.columnIndex(name))]
            }
            #expect(members.count == 1)
            #expect(try value("photo") == .data(Data()))
            #expect(try value("seal") == .data(Data([1, 2])) && value("name") == .string("Gorch"))
            #expect(try value("former") == .null)
            try await fixture.pool.query("SELECT tombolo.restore('Ship', $1)", [.text(id.stringValue)])
            let left = try await fixture.pool.query("SELECT octet_length(photo) FROM ship WHERE trashed_at IS NULL")
            #expect(try left.map { try $0[0].int } == [100_000])
        }
    }
}
