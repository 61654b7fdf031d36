import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Enumeration values under `/api`.
@Suite struct AllowedValueTests {
    @Test("a value outside an enumeration is refused, naming the possible values, wherever it occurs")
    func writing() async throws {
        try await HarbourFixture.with { fixture in
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.authenticator)
            try await app.test(.router) { client in
                let id = try await fixture.ship(client, ["kind": "tug", "decks": 2])
                func patch(_ attributes: JSON) async throws -> Answer {
                    try await fixture.call(
                        client, .patch, "/api/ships/\(id)",
                        ["data": ["type": "ships", "id": .string(id), "attributes": attributes]])
                }
                let hold: JSON = [
                    "label": "x", "volume": 1, "isCooled": false, "marks": [], "cargo": "submarine",
                ]
                for (attributes, pointer) in [
                    (["kind": "submarine"] as JSON, "/data/attributes/kind"), (["kind": ""], "/data/attributes/kind"),
                    (["kind": "Tug"], "/data/attributes/kind"), (["former": "x"], "/data/attributes/former"),
                    (["decks": 4], "/data/attributes/decks"), (["kinds": ["tug", "x"]], "/data/attributes/kinds/1"),
                    (["holds": [hold]], "/data/attributes/holds/0/cargo"),
                ] {
                    let answer = try await patch(attributes)
                    let problem = answer.json["errors"]?.list.first
                    #expect(answer.status == 422, "\(answer.text)")
                    #expect(problem?["source"]?["pointer"] == .string(pointer), "\(answer.text)")
                    let remedy = problem?["meta"]?["remedy"]?.text ?? ""
                    #expect(remedy.contains(pointer.hasSuffix("decks") ? "1, 2, 3" : "freighter, ferry"), "\(remedy)")
                }
                let taken = try await patch(["kind": "ferry", "former": .null, "decks": 3, "kinds": ["tug", "yacht"]])
                #expect(taken.status == 200, "\(taken.text)")

                // A value written by another version of the app stays, and doesn't have to be fixed before writing other
                // properties.
                try await fixture.pool.execute("UPDATE ship SET kind = 'hovercraft'")
                #expect(try await patch(["name": "Other"]).status == 200)
                let read = try await fixture.call(client, .get, "/api/ships/\(id)")
                #expect(read.json["data"]?["attributes"]?["kind"] == "hovercraft")
                #expect(try await patch(["kind": "hovercraft"]).status == 422)

                let description = try await fixture.call(client, .get, "/api/openapi.json")
                let properties = description.json["components"]?["schemas"]?["ships"]?["properties"]?["attributes"]?[
                    "properties"]
                #expect(properties?["decks"]?["enum"] == [1, 2, 3, .null])
                #expect(properties?["kind"]?["enum"]?.list.first == "freighter")
            }
        }
    }
}
