import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Who owns an event that an administrator creates. Administrators may name anybody as its creator.
@Suite struct EventMakerTests {
    private static func event(_ more: String) -> String {
        #"""
        {"data": {"type": "events", "attributes": {"name": "Made", "identifier": "made", "timezone": "UTC",
        "startsAt": "2030-01-01T00:00:00Z", "endsAt": "2030-01-02T00:00:00Z", "state": "draft",
        "privacy": "private"\#(more)}}}
        """#
    }

    @Test(
        "an administrator's event belongs to the creator they name, or to themselves if they name nobody"
    )
    func owners() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let (admin, attendee) = (try #require(fixture.users["admin"]), try #require(fixture.users["attendee"]))
            for (more, owner) in [
                ("", admin), (#", "creator": null"#, admin), (#", "creator": "\#(attendee)""#, attendee),
            ] {
                let made = try await call(
                    .post, "/api/events", as: "admin", body: Self.event(more), type: "application/vnd.api+json")
                #expect(made.status == 201, "\(made.text)")
                #expect(made.json["data"]?["attributes"]?["creator"]?.text == owner.stringValue, "\(made.text)")
                let id = try ObjectId(string: try #require(made.json["data"]?["id"]?.text))
                let owners = try await fixture.pool.query(
                    #"SELECT encode("user", 'hex'), role FROM role_assignment WHERE event = $1"#, [.bytea(id.bytes)])
                #expect(try owners.map { try [$0[0].string, $0[1].string] } == [[owner.stringValue, "owner"]])
            }
        }
    }
}
