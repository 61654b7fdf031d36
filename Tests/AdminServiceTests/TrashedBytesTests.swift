import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@testable import AdminService

@Suite("Operations on a whole trash group read long values only if they decide something")
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
                try await trash.members(of: TrashAddress("Ship", .objectId(id)), deciding: { _ in [] }, $0)
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

    @Test("long texts are read only where the rules or the caller's filter ask for them")
    func texts() async throws {
        let rules = """
            version: 1
            defaultRoles:
              - {name: everybody, applyWhen: {}, read: true, write: true, operations: {purge: {name: {$ne: ""}}}}
            """
        try await HarbourFixture.with(rules: { _ in rules }) { fixture in
            let (ship, sailor) = (ObjectId.generate(), ObjectId.generate())
            let long = String(repeating: "ä", count: 3_000)
            try await fixture.pool.query(
                "INSERT INTO ship (_id, name, kind, seal) VALUES ($1, $2, 'ferry', '')",
                [.bytea(ship.bytes), .text(long)])
            try await fixture.pool.query(
                "INSERT INTO sailor (_id, name) VALUES ($1, $2)", [.bytea(sailor.bytes), .text(long)])
            let schema = fixture.rules.schema
            let trash = Trash(schema: schema, pool: fixture.pool)
            for (name, id) in [("Ship", ship), ("Sailor", sailor)] {
                _ = try await trash.trash(name, .objectId(id), by: nil)
            }
            let address = TrashAddress("Ship", .objectId(ship))
            func name(_ paths: [PropertyPath]) async throws -> Value? {
                let members = try await fixture.pool.transaction {
                    try await trash.members(of: address, deciding: { _ in paths }, $0)
                }
                return members.first?.row[try #require(schema["Ship"]?.columnIndex("name"))]
            }
            #expect(try await name([]) == .string(""))
            #expect(try await name([PropertyPath("name")]) == .string(long))
            let ada = Subject(user: try #require(fixture.users["ada"]))
            let caller = Trash.Restorer(subject: ada, rules: fixture.rules)
            #expect(try await trash.purge(address, by: caller).count == 1)
            let emptying = TrashEmptying(
                trash: trash, filters: ["Sailor": .compare(PropertyPath("name"), .equal, .string(long))])
            #expect(try await emptying.empty(after: nil)["count"] == .int(1))
        }
    }
}
