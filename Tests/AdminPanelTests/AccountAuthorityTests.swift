import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// A user with an added role that may change accounts, facing accounts of people with more rights.
@Suite struct AccountAuthorityTests {
    private static let actions = [
        "disable", "enable", "logins/end", "logins/ffffffffffffffffffffffff/end", "password-link",
        "second-factor/remove", "verify", "unverify",
    ]

    /// The user `attendee` has the role `support`; `visitor` has no role.
    private static func with(
        _ body:
            @escaping @Sendable (
                ServiceFixture, any TestClientProtocol, _ support: PanelBrowser, _ superAdmin: PanelBrowser,
                _ visitor: ObjectId
            ) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { _, client in
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await AddedRolePagesTests.addSupport(
                    ["read.accounts", "update.accounts"], to: "attendee", superAdmin, fixture)
                let visitor = try await fixture.authenticator.register(
                    email: ServiceFixture.email("visitor"), password: ServiceFixture.password, displayName: "A visitor")
                let support = try await PanelBrowser.loggedIn(client, as: "attendee")
                try await body(fixture, client, support, superAdmin, visitor)
            }
        }
    }

    @Test("support can manage accounts of people with no more rights")
    func ordinary() async throws {
        try await Self.with { _, client, support, _, visitor in
            let path = "/panel/accounts/\(visitor)"
            let theirs = try await PanelBrowser.loggedIn(client, as: "visitor")
            #expect(try await support.get("/panel/accounts").text.contains("/panel/accounts/new"))
            #expect(try await support.get(path).text.contains("\(path)/disable"))
            #expect(try await support.post("\(path)/logins/end").status == 303)
            #expect(try await theirs.get("/panel").status == 303)
            #expect(try await support.post("\(path)/disable").status == 303)
            #expect(try await PanelBrowser(client).logIn(as: "visitor").status == 401)
            #expect(try await support.post("\(path)/enable").status == 303)
            #expect(try await support.post("\(path)/second-factor/remove").status == 409)
        }
    }

    @Test(
        "support can't change, in any way, the account of anybody with more rights",
        arguments: ["superAdmin", "admin", "owner", "organizer", "coorganizer", "registrar", "stranger"])
    func above(target: String) async throws {
        try await Self.with { fixture, client, support, _, _ in
            let id = try #require(fixture.users[target])
            let theirs = try await PanelBrowser.loggedIn(client, as: target)
            let path = "/panel/accounts/\(id)"
            let page = try await support.get(path)
            #expect(page.status == 200 && page.text.contains("somebody who may do more than you"), "\(page.text)")
            for action in Self.actions {
                #expect(!page.text.contains("\(path)/\(action)"), "\(action)")
                let answer = try await support.post("\(path)/\(action)")
                #expect(answer.status == 403 && answer.text.contains("may do more than you"), "\(action)")
            }
            for action in ["disable", "enable"] {
                #expect(try await support.get("\(path)/\(action)").status == 403)
            }
            #expect(try await theirs.get("/panel").status == 200)
        }
    }

    @Test("support can't enable an account with more rights, and a role given a moment ago already counts")
    func disabled() async throws {
        try await Self.with { fixture, _, support, superAdmin, visitor in
            let path = "/panel/accounts/\(visitor)"
            #expect(try await support.post("\(path)/disable").status == 303)
            try await fixture.rows().insert(
                "RoleAssignment", ["user": .objectId(visitor), "role": "superAdmin", "event": .null])
            let answer = try await support.post("\(path)/enable")
            #expect(answer.status == 403, "\(answer.text)")
            #expect(try await superAdmin.post("\(path)/enable").status == 303)
            // Of two super administrators, each may disable the other, but nobody may disable themselves.
            #expect(try await superAdmin.post("\(path)/disable").status == 303)
            let own = try #require(fixture.users["superAdmin"])
            #expect(try await superAdmin.post("/panel/accounts/\(own)/disable").status == 422)
        }
    }

    @Test(
        "a colleague with one more box is out of reach until support has it too; a role's name means nothing without boxes"
    )
    func colleagues() async throws {
        try await Self.with { fixture, _, support, superAdmin, visitor in
            let version = fixture.adminModels.current.ruleVersions["conference"] ?? 0
            let role = ["name": "watch", "reach": "everywhere", "version": "\(version)"]
            #expect(try await superAdmin.post("/panel/permissions/roles/new?app=conference", role).status == 303)
            try await fixture.rows().insert(
                "RoleAssignment", ["user": .objectId(visitor), "role": "watch", "event": .null])
            let end = "/panel/accounts/\(visitor)/logins/end"
            #expect(try await support.post(end).status == 303, "The role has no rights.")
            func tick(_ service: String, of role: String) async throws {
                let answer = try await AddedRolePagesTests.setBox(service, "read", true, of: role, superAdmin, fixture)
                #expect(answer.status == 303, "\(answer.text)")
            }
            for service in ["sessions", "devices", "auditLog", "permissions", "trash"] {
                try await tick(service, of: "watch")
                #expect(try await support.post(end).status == 403, "\(service)")
                try await tick(service, of: "support")
                #expect(try await support.post(end).status == 303, "\(service)")
            }
        }
    }

    @Test("support can't verify an address if that would give rights that support lacks, and never its own")
    func verifying() async throws {
        try await Self.with { fixture, _, support, superAdmin, visitor in
            let own = try #require(fixture.users["attendee"])
            // Users with a verified address may create events.
            for user in [visitor, own] {
                #expect(try await support.post("/panel/accounts/\(user)/verify").status == 403)
            }
            try await fixture.pool.query(
                "UPDATE tombolo.account SET verified_at = now() WHERE id = $1", [.bytea(own.bytes)])
            fixture.forgetRoles()
            #expect(try await support.post("/panel/accounts/\(visitor)/verify").status == 303)
            #expect(try await support.post("/panel/accounts/\(visitor)/unverify").status == 303)
            for action in ["verify", "unverify"] {
                #expect(try await support.post("/panel/accounts/\(own)/\(action)").status == 403, "\(action)")
            }
            let admin = try #require(fixture.users["superAdmin"])
            #expect(try await superAdmin.post("/panel/accounts/\(admin)/verify").status == 303)
        }
    }

    @Test("seeing accounts doesn't allow changing them, and neither does the box of a role that was taken away")
    func readingAlone() async throws {
        try await Self.with { fixture, _, support, superAdmin, visitor in
            let answer = try await AddedRolePagesTests.setBox("accounts", "update", false, superAdmin, fixture)
            #expect(answer.status == 303, "\(answer.text)")
            let path = "/panel/accounts/\(visitor)"
            let page = try await support.get(path)
            #expect(page.status == 200 && !page.text.contains("/disable") && !page.text.contains("/permissions/why"))
            for action in Self.actions { #expect(try await support.post("\(path)/\(action)").status == 403) }
            #expect(try await support.get("/panel/accounts/new").status == 403)
            try await fixture.pool.execute("DELETE FROM role_assignment WHERE role = 'support'")
            fixture.forgetRoles()
            #expect(try await support.get(path).status == 403)
        }
    }

    @Test(
        "support can't change the account of somebody whom the rules name",
        arguments: [
            #"{"%%user.data.email": root@example.org}"#, #"{"%%user.id": "000000000000000000000001"}"#,
            #"{"%%user.id": {$in: ["000000000000000000000001"]}}"#,
        ])
    func named(condition: String) throws {
        let matrix = """
            grants: {class: Membership, user: user, role: role, scope: club, roles: [help, member]}
            matrix:
              scope: club
              write: WRITE
              operations: {manageAccounts: {"%%user.roles": help}}
              services: {memberships: Membership}
              roles: {member: {memberships: ----}}
            Membership:
              - {name: named, applyWhen: WHEN, read: true}
              - {name: all, applyWhen: {}, read: {user: "%%user.id"}}
            """
        let support = Subject(
            user: ObjectId(high: 0, low: 2), data: ["email": .string("help@example.org")],
            grants: [RoleGrant(Role("help"), in: nil)])
        let root = Subject(user: ObjectId(high: 0, low: 1), data: ["email": .string("root@example.org")])
        let visitor = Subject(user: ObjectId(high: 0, low: 3), data: ["email": .string("eve@example.org")])
        for (write, when) in [(condition, "{\"%%user.roles\": nobody}"), ("{\"%%user.roles\": nobody}", condition)] {
            let text = matrix.replacing("WRITE", with: write).replacing("WHEN", with: when)
            let model = try ClubModel.server(rules: text)
            #expect(AccountAuthority.refusal(of: support, changing: root, model)?.code == .forbidden, "\(text)")
            #expect(AccountAuthority.refusal(of: support, changing: visitor, model) == nil, "\(text)")
        }
    }
}
