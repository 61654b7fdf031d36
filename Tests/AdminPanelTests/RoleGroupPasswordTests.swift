@testable import AdminService
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

@testable import AdminPanel

/// Objects of other classes that, restored in bulk, bring back objects that give roles.
@Suite struct RoleGroupPasswordTests {
    final class Team: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var name: String

        override static func isTrashable() -> Bool { true }
    }

    final class Membership: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var user: ObjectId?
        @Persisted var role: String
        @Persisted var team: Team?

        override static func isTrashable() -> Bool { true }
    }

    private static let rules =
        "version: 1\ngrants:\n  - {class: Membership, user: user, role: role, scope: team}\n"
        + "defaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true, "
        + "operations: {trash: true, listTrash: true, restore: true}}\n"

    private struct Site: Sendable {
        let fixture: HarbourFixture
        let browser: PanelBrowser
        let runner: JobRunner

        func work() async throws { while try await runner.step() {} }

        /// Adds a team with this many members.
        func team(of members: Int) async throws -> ObjectId {
            let id = ObjectId.generate()
            try await fixture.pool.query("INSERT INTO team (_id, name) VALUES ($1, 'Crew')", [.objectId(id)])
            for _ in 0..<members {
                try await fixture.pool.query(
                    #"INSERT INTO membership (_id, "user", role, team) VALUES ($1, $2, 'lead', $3)"#,
                    [.objectId(.generate()), .objectId(try #require(fixture.users["guest"])), .objectId(id)])
            }
            return id
        }

        /// Starts a job that trashes or restores a team.
        /// - Returns: the answer to the last button's request.
        func act(_ action: String, _ team: ObjectId) async throws -> Answer {
            let path = "/panel/bulk/teams"
            let trial = try await browser.submit(
                path, [("which", "chosen"), ("action", action), ("id", team.stringValue)])
            try #require(trial.status == 200, "\(trial.text)")
            try await PanelBrowser.ageProofs(fixture.pool)
            return try await browser.submit(path, PanelBrowser.hidden(trial.text))
        }

        /// Sends the hidden fields of the page that asks for the password, together with the password.
        func prove(_ path: String, _ asked: Answer) async throws -> Answer {
            #expect(asked.status == 403 && asked.text.contains(#"name="_password""#), "\(asked.text)")
            return try await browser.submit(
                path, PanelBrowser.hidden(asked.text) + [("_password", ServiceFixture.password)])
        }

        func live(_ table: String) async throws -> Int {
            try await fixture.pool.query("SELECT 1 FROM \(table) WHERE trashed_at IS NULL").count
        }
    }

    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let models = try ModelDocument(app: "harbour", objectTypes: [Team.self, Membership.self])
        try await HarbourFixture.with(models: models, rules: { _ in rules }) { fixture in
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, models: fixture.models)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: rules, models: fixture.models,
                authenticator: fixture.authenticator, pages: { panel.add(to: $0, with: $1) })
            let service = JobService(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, logger: Logger(label: "jobs"))
            try await app.test(.router) { client in
                let browser = try await PanelBrowser.loggedIn(client, as: "ada")
                try await body(Site(fixture: fixture, browser: browser, runner: service.runner))
            }
        }
    }

    @Test("restoring in bulk asks for the password if a team brings members back")
    func restoring() async throws {
        try await Self.run { site in
            let team = try await site.team(of: 2)
            let trashed = try await site.act("trash", team)
            #expect(trashed.status == 303, "\(trashed.text)")
            try await site.work()
            #expect(try await site.live("membership") == 0)

            let asked = try await site.act("restore", team)
            try await site.work()
            #expect(try await site.live("membership") == 0)
            let restored = try await site.prove("/panel/bulk/teams", asked)
            #expect(restored.status == 303, "\(restored.text)")
            try await site.work()
            #expect(try await site.live("team") == 1)
            #expect(try await site.live("membership") == 2)
        }
    }

    @Test("so does undoing a job that brings members back")
    func undoing() async throws {
        try await Self.run { site in
            let team = try await site.team(of: 1)
            let job = try #require(try await site.act("trash", team).headers[.location])
            try await site.work()
            try await PanelBrowser.ageProofs(site.fixture.pool)
            let asked = try await site.browser.submit("\(job)/undo", [])
            try await site.work()
            #expect(try await site.live("membership") == 0)
            let undone = try await site.prove("\(job)/undo", asked)
            #expect(undone.status == 303, "\(undone.text)")
            try await site.work()
            #expect(try await site.live("membership") == 1)
        }
    }

    @Test("a team without members needs no password")
    func others() async throws {
        try await Self.run { site in
            let (team, other) = (try await site.team(of: 0), try await site.team(of: 1))
            let job = try #require(try await site.act("trash", team).headers[.location])
            try await site.work()
            // Members in another group don't count.
            #expect(try await site.act("trash", other).status == 303)
            try await site.work()
            #expect(try await site.act("restore", team).status == 303)
            try await site.work()
            #expect(try await site.live("team") == 1)
            #expect(try await site.act("trash", team).status == 303)
            try await site.work()
            #expect(try await site.browser.submit("\(job)/undo", []).status == 303)
            #expect(try await site.live("membership") == 0)
        }
    }
}
