import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Links that a trigger in the app's database refuses, over JSON:API.
@Suite struct LinksWithinEventTests {
    private static let media = "application/vnd.api+json"

    private static func links(_ type: String, _ ids: [ObjectId]) -> String {
        #"{"data": [\#(ids.map { #"{"type": "\#(type)", "id": "\#($0)"}"# }.joined(separator: ", "))]}"#
    }

    private static func link(_ type: String, _ id: ObjectId) -> String {
        #"{"data": {"type": "\#(type)", "id": "\#(id)"}}"#
    }

    private static func session(_ id: ObjectId, _ relationships: String) -> String {
        #"{"data": {"type": "sessions", "id": "\#(id)", "relationships": {\#(relationships)}}}"#
    }

    @Test("a list accepts nothing from another event, and the error points at the list")
    func lists() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let stranger = try await fixture.rows().insert(
                "Speaker", ["event": .objectId(fixture.draft), "name": "Edsger"])
            let id = fixture.sessions[0]
            let links = Self.links("speakers", [fixture.speakers[0], stranger])
            for (path, body, place) in [
                ("", Self.session(id, #""speakers": \#(links)"#), "/data/relationships/speakers/data"),
                ("/relationships/speakers", links, "/data"),
            ] {
                let refused = try await call(
                    .patch, "/api/sessions/\(id)\(path)", as: "superAdmin", body: body, type: Self.media)
                let problem = JSONAPIReadingTests.problem(refused)
                #expect(refused.status == 422, "\(refused.text)")
                #expect(
                    problem["detail"]?.text?.hasPrefix("The speaker belongs to another event.") == true, "\(problem)")
                #expect(problem["source"]?["pointer"]?.text == place, "\(problem)")
            }
            let count = try await fixture.pool.query(
                "SELECT count(*) FROM session_speakers WHERE owner = $1", [.bytea(id.bytes)])
            #expect(try count[0, 0].int == 2)
        }
    }

    @Test("one request can move a session to another event along with speakers of that event")
    func moving() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let stranger = try await fixture.rows().insert(
                "Speaker", ["event": .objectId(fixture.draft), "name": "Edsger"])
            let id = fixture.sessions[0]
            let event = #""event": \#(Self.link("events", fixture.draft)), "room": {"data": null}"#
            let alone = try await call(
                .patch, "/api/sessions/\(id)", as: "superAdmin", body: Self.session(id, event), type: Self.media)
            #expect(
                alone.status == 422 && alone.text.contains("The list has a speaker of another event."), "\(alone.text)")
            #expect(
                JSONAPIReadingTests.problem(alone)["source"]?["pointer"]?.text == "/data/relationships/event/data")
            let speakers = #""speakers": \#(Self.links("speakers", [stranger]))"#
            let moved = try await call(
                .patch, "/api/sessions/\(id)", as: "superAdmin", body: Self.session(id, "\(event), \(speakers)"),
                type: Self.media)
            #expect(moved.status == 200, "\(moved.text)")
            let linked = moved.json["data"]?["relationships"]?["speakers"]?["data"]?.list ?? []
            #expect(linked.map { $0["id"]?.text } == [stranger.stringValue])
        }
    }

    @Test("an object of another event isn't revealed to somebody who can't read it")
    func unseen() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let rows = fixture.rows()
            let values: [String: Value] = ["event": .objectId(fixture.draft), "name": "Hidden"]
            let id = fixture.sessions[0]
            for (name, className, type, isList) in [
                ("room", "Microlocation", "microlocations", false), ("track", "Track", "tracks", false),
                ("speakers", "Speaker", "speakers", true),
            ] {
                let there = try await rows.insert(className, values)
                func answer(_ target: ObjectId, as role: String) async throws -> Answer {
                    let link = isList ? Self.links(type, [target]) : Self.link(type, target)
                    return try await call(
                        .patch, "/api/sessions/\(id)", as: role, body: Self.session(id, #""\#(name)": \#(link)"#),
                        type: Self.media)
                }
                var problems: [[String: JSON]] = []
                for target in [there, .generate()] {
                    let answer = try await answer(target, as: "organizer")
                    guard case .object(var problem) = JSONAPIReadingTests.problem(answer) else {
                        Issue.record("\(answer.text)")
                        return
                    }
                    // The id differs for each request.
                    problem["id"] = nil
                    problems.append(problem)
                }
                #expect(problems[0] == problems[1])
                let told = try await answer(there, as: "superAdmin")
                #expect(told.text.contains("belongs to another event."), "\(told.text)")
            }
        }
    }
}
