import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct ExportTitlesTests {
    @Test("links have titles beside their ids where the caller may read them, guarded like other text")
    func titles() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            try await fixture.rows().set("Event", fixture.event, "name", "=Island, Days")
            let sessions = "/export/sessions?titles=true&fields[sessions]=title,event,room,track&sort=title"
            let table = try await call(.get, "\(sessions)&filter[title][ne]=Talk%202", as: "owner")
            let lines = table.text.split(separator: "\n")
            #expect(lines.first == "id,event,event.title,track,track.title,room,room.title,title" && lines.count == 3)
            for (line, end) in zip(lines.dropFirst(), ["Main Hall,Talk 1", "Main Hall,Talk 3"]) {
                #expect(line.contains("\(fixture.event),\"'=Island, Days\",,,\(fixture.room),\(end)"), "\(line)")
            }
            let objects = try await call(.get, "\(sessions)&format=json", as: "owner").json.list
            #expect(objects.count == 3)
            for object in objects {
                #expect(object["event.title"] == "=Island, Days" && object["room.title"] == "Main Hall")
                #expect(object["track"] == .null && object["track.title"] == .null)
            }
            // Owners see who has a role in their event, but the only user they can read is themselves.
            let roles = try await call(
                .get, "/export/role_assignments?format=json&titles=true&filter[role][ne]=registrar", as: "owner")
            let own = fixture.users["owner"].map { JSON.string($0.stringValue) }
            #expect(roles.json.list.count > 1)
            for role in roles.json.list {
                #expect(role["event.title"] == "=Island, Days")
                #expect(role["user.title"] == (role["user"] == own ? "The owner" : .null), "\(roles.text)")
            }
            // A link into the trash has neither id nor title.
            #expect(try await call(.delete, "/api/microlocations/\(fixture.room)", as: "owner").status == 204)
            let trashed = try await call(.get, "\(sessions)&format=json", as: "owner").json.list
            #expect(trashed.allSatisfy { $0["room"] == .null && $0["room.title"] == .null } && trashed.count == 3)
            let plain = try await call(.get, "/export/sessions?titles=false", as: "owner")
            #expect(plain.status == 200 && !plain.text.contains("event.title"))
            #expect(try await call(.get, "/export/sessions?titles=maybe", as: "owner").status == 400)
        }
    }

    @Test(
        "a list of links has its titles in list order: one per line in CSV, an array in JSON, null for hidden ones"
    )
    func lists() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            try await fixture.rows().set("Speaker", fixture.speakers[0], "name", "=Ada \"B\"")
            let sessions = "/export/sessions?titles=true&fields[sessions]=speakers&filter[title]=Talk%201"
            let table = try await call(.get, sessions, as: "owner").text
            #expect(table.hasPrefix("id,speakers,speakers.title\n"), "\(table)")
            #expect(table.contains(",\"'=Ada \"\"B\"\"\nGrace\"\n"), "\(table)")
            let object = try await call(.get, "\(sessions)&format=json", as: "owner").json.list.first
            #expect(object?["speakers.title"] == ["=Ada \"B\"", "Grace"])
            // An object in the trash appears in neither list.
            #expect(try await call(.delete, "/api/speakers/\(fixture.speakers[0])", as: "owner").status == 204)
            let rest = try await call(.get, "\(sessions)&format=ndjson", as: "owner").text
            #expect(rest.contains(#""speakers.title":["Grace"]"#), "\(rest)")
            try await fixture.pool.execute("DELETE FROM session_speakers")
            let none = try await call(.get, "\(sessions)&format=json", as: "owner").json.list.first
            #expect(none?["speakers.title"] == [])
        }
    }

    @Test("lists leave out titles that the caller may not read")
    func hidden() async throws {
        let rules = """
            Session: [{name: everybody, applyWhen: {}, read: true}]
            Speaker: [{name: everybody, applyWhen: {}, read: {name: Grace}}]
            """
        try await JSONAPIReadingTests.run(rules: rules) { fixture, call in
            let sessions = "/export/sessions?titles=true&fields[sessions]=speakers&filter[title]=Talk%201"
            let object = try await call(.get, "\(sessions)&format=json", as: "owner").json.list.first
            #expect(object?["speakers.title"] == [.null, "Grace"], "\(object ?? .null)")
            #expect(object?["speakers"]?.list.count == 2)
            let table = try await call(.get, sessions, as: "owner").text
            #expect(table.hasSuffix(",Grace\n") && !table.contains("Ada"), "\(table)")
        }
    }
}
