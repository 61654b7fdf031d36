import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloRuleDocuments
import TomboloRules
import TomboloServerModel

/// Applies newer rules to a database whose administrators changed the matrix over HTTP.
@Suite struct KeptBoxesTests {
    private static func change(
        _ call: Caller, _ method: HTTPRequest.Method, _ path: String, _ body: String
    ) async throws {
        let answer = try await call(
            method, "/admin/permissions\(path)", as: "superAdmin", body: body, headers: [.ifMatch: "*"])
        #expect([200, 201].contains(answer.status), "\(answer.text)")
    }

    private static func apply(
        _ rules: String, replacesBoxes: Bool = false, _ fixture: ServiceFixture
    ) async throws -> (outcome: RuleDeployment.Outcome, notes: [String]) {
        let result = try await fixture.pool.withConnection { connection in
            try await RuleDeployment(file: "conference.rules.yaml", content: rules).apply(
                app: "conference", replacesBoxes: replacesBoxes, connection)
        }
        try await fixture.adminModels.refresh()
        return (result.0, result.notes.filter { $0.hasPrefix("Rules of conference: ") })
    }

    @Test("changed boxes, an added role and a user's permission stay, and additions in the new rules take effect")
    func upgrade() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let shipped = try #require(fixture.adminModels.current.ruleDocuments["conference"])
            try await Self.change(
                call, .patch, "",
                #"{"role": "organizer", "service": "sessions", "operation": "delete", "allowed": false}"#)
            try await Self.change(
                call, .patch, "", #"{"permission": "createEvent", "group": "verified", "allowed": false}"#)
            try await Self.change(
                call, .post, "/roles", #"{"name": "herald", "permissions": {"sessions": ["read", "update"]}}"#)
            let newer = try RuleText(shipped, file: "new").setting(
                .init(role: "coorganizer", service: "tracks", operation: .create), to: true
            ).text
            let applied = try await Self.apply(newer, fixture)
            #expect(
                applied.notes == [
                    "Rules of conference: Kept 3 changes that were made in the admin server: the role 'herald' "
                        + "(sessions -ru-); 'organizer' may not delete sessions; 'verified' users don't have "
                        + "'createEvent'."
                ])

            let answer = try await call(.get, "/admin/permissions", as: "admin")
            #expect(answer.json["permissions"]?["organizer"]?["sessions"]?["delete"] == false)
            #expect(answer.json["permissions"]?["coorganizer"]?["tracks"]?["create"] == true)
            #expect(answer.json["permissions"]?["herald"]?["sessions"]?["update"] == true)
            #expect(answer.json["customRoles"] == ["herald"])
            let session = "/sessions/\(fixture.sessions[0])"
            #expect(try await call(.delete, session, as: "organizer").status == 403)

            let again = try await Self.apply(newer, fixture)
            #expect(again.outcome == .unchanged && again.notes.isEmpty)
            let replaced = try await Self.apply(newer, replacesBoxes: true, fixture)
            #expect(replaced.notes.count == 1 && replaced.notes[0].contains("dropped 3 changes"), "\(replaced.notes)")
            #expect(fixture.adminModels.current.ruleDocuments["conference"] == newer)
            #expect(try await call(.delete, session, as: "organizer").status == 200)
        }
    }
}
