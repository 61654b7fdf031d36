import AdminService
import Foundation
import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite struct TrashPagesTests {
    private func inTrash(_ table: String, _ id: ObjectId, _ fixture: ServiceFixture) async throws -> Bool? {
        try await fixture.pool.query(
            "SELECT trashed_at IS NOT NULL FROM \(PostgresSQL.quoteIdentifier(table)) WHERE _id = $1", [.objectId(id)]
        ).first.map { try $0[0].bool }
    }

    /// Trashes an object, and returns the path of its group's page.
    private func trash(_ className: String, _ id: ObjectId, _ fixture: ServiceFixture) async throws -> String {
        let group = try await Trash(schema: fixture.rules.schema, pool: fixture.adminServer.pool).trash(
            className, .objectId(id), by: fixture.users["admin"])
        return "/panel/trash/group/\(group.id.uuidString.lowercased())"
    }

    @Test("the list shows objects that a service trashed at infinitely late or early times")
    func infiniteTimes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let last = "294276-12-31 23:59:59+00"
                for (session, time) in zip(fixture.sessions, ["infinity", "-infinity", last]) {
                    try await fixture.pool.query(
                        "UPDATE session SET trashed_at = '\(time)' WHERE _id = $1", [.objectId(session)])
                }
                let list = try await PanelBrowser.loggedIn(client, as: "admin").get("/panel/trash")
                #expect(list.status == 200, "\(list.text)")
                #expect(["Talk 1", "Talk 2", "Talk 3"].allSatisfy { list.text.contains($0) }, "\(list.text)")
            }
        }
    }

    @Test("objects of any size can be listed, restored and deleted")
    func largeObjects() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                // Together, these exceed what a page reads.
                try await fixture.pool.execute("UPDATE session SET long_abstract = repeat('x', 12000000)")
                for session in fixture.sessions.prefix(3) { _ = try await trash("Session", session, fixture) }
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let list = try await browser.get("/panel/trash")
                #expect(list.status == 200, "\(list.text)")
                #expect(["Talk 1", "Talk 2", "Talk 3"].allSatisfy { list.text.contains($0) })
                try await fixture.pool.execute(
                    "UPDATE session SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL, trash_reason = NULL")
                let page = try await trash("Event", fixture.event, fixture)
                let group = try await browser.get(page)
                #expect(group.status == 200 && group.text.contains("Talk 1"), "\(group.text)")
                #expect(try await browser.get("\(page)/delete").status == 200)
                #expect(try await browser.post("\(page)/restore").status == 303)
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == false)
            }
        }
    }

    @Test("the page that asks before trashing handles objects of any size that go along")
    func largeProspect() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await fixture.pool.execute("UPDATE session SET long_abstract = repeat('x', 12000000)")
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let asked = try await browser.get("/panel/data/events/\(fixture.event)/delete")
                #expect(asked.status == 200 && asked.text.contains("Sessions"), "\(asked.text)")
                #expect(try await inTrash("event", fixture.event, fixture) == false)
            }
        }
    }

    @Test("the list shows objects trashed together in one row, and restoring brings all of them back")
    func restore() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let page = try await trash("Event", fixture.event, fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let list = try await browser.get("/panel/trash").text
                #expect(list.contains("Island Days") && list.contains("3 sessions"))
                #expect(!list.contains("Talk 1"), "It went with its event and has no row of its own.")
                let group = try await browser.get(page)
                #expect(group.status == 200 && group.text.contains("Talk 1"))
                let answer = try await browser.post("\(page)/restore")
                #expect(answer.status == 303 && answer.headers[.location] == "/panel/trash")
                #expect(try await browser.get("/panel/trash").text.contains("objects were restored."))
                #expect(try await inTrash("event", fixture.event, fixture) == false)
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == false)
                #expect(try await browser.get(page).status == 404)
            }
        }
    }

    @Test("the reason from the form is on the pages of the trash as plain text, and in the history")
    func reason() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let path = "/panel/data/sessions/\(fixture.sessions[0])/delete"
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let asked = try await owner.get(path).text
                #expect(asked.contains(#"<textarea id="reason" name="reason""#), "\(asked)")
                let form = PanelBrowser.hidden(asked)
                let long = try await owner.submit(path, form + [("reason", String(repeating: "x", count: 1_001))])
                #expect(long.status == 422, "\(long.text)")
                let moved = try await owner.submit(path, form + [("reason", "Two <i>talks</i>")])
                #expect(moved.status == 303, "\(moved.text)")
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let list = try await admin.get("/panel/trash").text
                #expect(list.contains("Two &lt;i&gt;talks&lt;/i&gt;"), "\(list)")
                let found = try await fixture.pool.query(
                    "SELECT trash_group::text FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])
                let group = try await admin.get("/panel/trash/group/\(try found[0, 0].string)").text
                #expect(group.contains("<dt>Reason</dt>") && group.contains("Two &lt;i&gt;talks"), "\(group)")
            }
        }
    }

    @Test("a clash is shown with its choices, and a new value settles it")
    func clash() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let attendee = try #require(fixture.users["attendee"])
                let page = try await trash("User", attendee, fixture)
                let email = ServiceFixture.email("attendee")
                _ = try await fixture.authenticator.register(
                    email: email, password: ServiceFixture.password, displayName: "Somebody else")
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let refused = try await browser.post("\(page)/restore")
                #expect(refused.status == 409 && refused.text.contains("A live User has the same email."))
                #expect(refused.text.contains("choice-\(attendee)-values"))
                #expect(try await inTrash("users", attendee, fixture) == true)
                let again = try await browser.post(
                    "\(page)/restore",
                    ["choice-\(attendee)": "values", "value-\(attendee)-email": "other@example.org"])
                #expect(again.status == 303, "\(again.text)")
                #expect(try await inTrash("users", attendee, fixture) == false)
            }
        }
    }

    @Test("a clash between several properties asks for those that can be typed, filled in with the old values")
    func clashOfSeveral() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let ticket = fixture.tickets[0]
                let rank = try await fixture.pool.query("SELECT rank FROM ticket WHERE _id = $1", [.objectId(ticket)])[
                    0, 0
                ]
                .string
                let page = try await trash("Ticket", ticket, fixture)
                try await fixture.pool.query(
                    "UPDATE ticket SET rank = $1 WHERE _id = $2", [.text(rank), .objectId(fixture.tickets[1])])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let refused = try await browser.post("\(page)/restore")
                #expect(
                    refused.status == 409 && refused.text.contains("has the same event and rank."), "\(refused.text)")
                #expect(
                    refused.text.contains("value-\(ticket)-rank") && !refused.text.contains("value-\(ticket)-event"))
                #expect(PanelRecordTests.fields(refused.text)["value-\(ticket)-rank"] == rank)
                // An invalid value keeps the choices, and changes nothing.
                let wrong = try await browser.post(
                    "\(page)/restore",
                    ["choice-\(ticket)": "values", "value-\(ticket)-rank": "\(rank)x", "value-\(ticket)-name": "x"])
                #expect(wrong.status == 422 && wrong.text.contains("value-\(ticket)-rank"), "\(wrong.text)")
                #expect(PanelRecordTests.fields(wrong.text)["value-\(ticket)-rank"] == "\(rank)x")
                #expect(try await inTrash("ticket", ticket, fixture) == true)
                let again = try await browser.post(
                    "\(page)/restore", ["choice-\(ticket)": "values", "value-\(ticket)-rank": "\(rank)V"])
                #expect(again.status == 303, "\(again.text)")
                #expect(try await inTrash("ticket", ticket, fixture) == false)
            }
        }
    }

    @Test("deleting forever says what will go, takes the operation 'purge', and happens once")
    func purge() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let page = try await trash("Session", fixture.sessions[0], fixture)
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(try await admin.get("\(page)/delete").status == 403)
                #expect(try await admin.post("\(page)/delete").status == 403)
                let shown = try await admin.get(page).text
                #expect(!shown.contains("\(page)/delete"))
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let asked = try await browser.get("\(page)/delete")
                #expect(asked.status == 200 && asked.text.contains("the session Talk 1"))
                #expect(try await browser.post("\(page)/delete").status == 303)
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == nil)
                #expect(try await browser.post("\(page)/delete").status == 404)
            }
        }
    }

    @Test("an irreversible action asks for the password again, and then continues")
    func password() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let page = try await trash("Session", fixture.sessions[0], fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await PanelBrowser.ageProofs(fixture.pool)
                let asked = try await browser.post("\(page)/delete")
                #expect(asked.status == 403 && asked.text.contains("password"))
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == true)
                let proved = try await browser.post("\(page)/delete", ["_password": ServiceFixture.password])
                #expect(proved.status == 303)
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == nil)
            }
        }
    }

    @Test(
        "objects that the app keeps in the trash are announced before they go there and before they are deleted forever"
    )
    func keeping() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let (owner, attendee) = (try #require(fixture.users["owner"]), try #require(fixture.users["attendee"]))
                try await fixture.pool.execute("UPDATE event SET ends_at = now() + interval '1 day'")
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let reason = "owns or organizes the event"
                let kept = try await browser.get("/panel/data/users/\(owner)/delete")
                #expect(kept.status == 200 && kept.text.contains(reason), "\(kept.text)")
                let free = try await browser.get("/panel/data/users/\(attendee)/delete")
                #expect(free.status == 200 && !free.text.contains("The app would keep it"), "\(free.text)")
                let several = try await browser.submit(
                    "/panel/bulk/users",
                    [
                        ("which", "chosen"), ("action", "trash"), ("id", owner.stringValue),
                        ("id", attendee.stringValue),
                    ])
                #expect(several.status == 200 && several.text.contains(reason), "\(several.text)")
                #expect(several.text.contains("The app keeps 1 of those tried"), "\(several.text)")
                #expect(try await inTrash("users", owner, fixture) == false)

                let page = try await trash("User", owner, fixture)
                let asked = try await browser.get("\(page)/delete")
                #expect(asked.status == 200 && asked.text.contains(reason), "\(asked.text)")
                #expect(try await inTrash("users", owner, fixture) == true)
                let other = try await browser.get("\(try await trash("User", attendee, fixture))/delete")
                #expect(other.status == 200 && !other.text.contains(#"class="problem""#), "\(other.text)")
                #expect(try await inTrash("users", attendee, fixture) == true)
            }
        }
    }

    @Test("the list and the page before emptying say what the app keeps and why, and show no date that won't hold")
    func keptInLists() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let (owner, attendee) = (try #require(fixture.users["owner"]), try #require(fixture.users["attendee"]))
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await trash("User", owner, fixture)
                _ = try await trash("User", attendee, fixture)
                let reason = "kept: owns or organizes the event"
                func list(endsIn days: Int) async throws -> (dates: Int, reasons: Int) {
                    try await fixture.pool.execute("UPDATE event SET ends_at = now() + interval '\(days) days'")
                    let text = try await browser.get("/panel/trash?class=User").text
                    func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
                    return (count(#"<td data-label="Deleted permanently"><time"#), count(reason))
                }
                // It will be deleted after 30 days, unless something keeps it then.
                #expect(try await list(endsIn: 1) == (2, 1))
                #expect(try await list(endsIn: 90) == (1, 1))
                let group = try await browser.get(page).text
                #expect(group.contains("Kept because") && !group.contains("<dt>Deleted permanently</dt>"), "\(group)")

                let asked = try await browser.get("/panel/trash/empty?class=User").text
                #expect(asked.contains("<li>1 user</li>") && asked.contains("Not deleted"), "\(asked)")
                #expect(asked.contains("owns or organizes the event"), "\(asked)")
                // A user who may delete it without listing it gets only a number.
                let groups = TrashGroups(schema: fixture.rules.schema, hidden: [:], pool: fixture.adminServer.pool)
                let unseen = try await groups.kept(filters: ["User": .constant(true)], listing: [:])
                #expect(unseen.groups == 1 && unseen.entries.isEmpty)
                #expect(try await browser.post("/panel/trash/empty", ["class": "User"]).status == 200)
                #expect(try await inTrash("users", attendee, fixture) == nil)
                #expect(try await inTrash("users", owner, fixture) == true)
                let kept = try await browser.get("/panel/trash/empty?class=User").text
                #expect(kept.contains("None of it can be deleted permanently yet"), "\(kept)")
                #expect(!kept.contains(#"<button class="danger">"#), "\(kept)")
            }
        }
    }

    @Test("the trash can be listed even if an app's function that keeps objects fails")
    func failingKeeper() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await fixture.pool.execute(
                    """
                    CREATE FUNCTION tombolo.keep_session_in_trash(text, timestamptz) RETURNS text LANGUAGE sql
                        AS 'SELECT (1 / 0)::text';
                    GRANT EXECUTE ON FUNCTION tombolo.keep_session_in_trash(text, timestamptz) TO PUBLIC
                    """)
                _ = try await trash("Session", fixture.sessions[0], fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let list = try await browser.get("/panel/trash")
                #expect(list.status == 200 && list.text.contains("Talk 1"), "\(list.text)")
                let asked = try await browser.get("/panel/trash/empty")
                #expect(asked.status == 200 && asked.text.contains("The app couldn&#39;t be asked"), "\(asked.text)")
            }
        }
    }

    @Test("emptying one class leaves the others, and says how much was deleted")
    func emptying() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                for session in fixture.sessions { _ = try await trash("Session", session, fixture) }
                _ = try await trash("Ticket", fixture.tickets[0], fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let asked = try await browser.get("/panel/trash/empty?class=Session").text
                #expect(asked.contains("3 sessions") && !asked.contains("1 ticket"))
                let done = try await browser.post("/panel/trash/empty", ["class": "Session"])
                #expect(done.status == 200 && done.text.contains("3 objects in 3 groups were deleted permanently."))
                #expect(try await inTrash("session", fixture.sessions[1], fixture) == nil)
                #expect(try await inTrash("ticket", fixture.tickets[0], fixture) == true)
                #expect(try await browser.get("/panel/trash/empty?class=Session").status == 404)
            }
        }
    }

    @Test("the purge's page says what it would delete before it does")
    func automaticPurge() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let page = try await trash("Session", fixture.sessions[0], fixture)
                try await fixture.pool.execute(
                    "UPDATE session SET trashed_at = now() - interval '40 days' WHERE trashed_at IS NOT NULL")
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.get("/panel/trash/purge/preview").text.contains(page))
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == true)
                #expect(try await browser.post("/panel/trash/purge").status == 303)
                #expect(try await inTrash("session", fixture.sessions[0], fixture) == nil)
                #expect(try await browser.get("/panel/trash/purge").text.contains("1 object in 1 group was"))
            }
        }
    }

    @Test(
        "only users who may list the trash see anything of it",
        arguments: ["owner", "organizer", "coorganizer", "registrar", "attendee", "stranger"])
    func secrecy(role: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let page = try await trash("Session", fixture.sessions[0], fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                for path in [
                    "/panel/trash", page, "\(page)/delete", "/panel/trash/empty", "/panel/trash/purge",
                    "/panel/trash/object/\(fixture.sessions[0])",
                ] {
                    let answer = try await browser.get(path)
                    #expect(answer.status == 403 && !answer.text.contains("Talk 1"), "\(path)")
                }
                #expect(try await browser.post("\(page)/restore").status == 403)
                let overview = try await browser.get("/panel").text
                #expect(!overview.contains(#"href="/panel/trash""#))
            }
        }
    }

    @Test(
        "hostile addresses and forms get a page that says what is wrong",
        arguments: [
            "x", "00000000-0000-0000-0000-000000000000", "ffffffffffffffffffffffff", "%00", "<script>", "'; --",
        ])
    func hostile(id: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/trash/group/\(PanelBrowser.encode(id))"
                let looked = try await browser.get(path).status
                #expect([400, 404].contains(looked))
                let restored = try await browser.post("\(path)/restore", ["choice-x": "leave"]).status
                #expect([400, 404, 422].contains(restored))
                let deleted = try await browser.post("\(path)/delete").status
                #expect([400, 404].contains(deleted))
                let page = try await browser.get("/panel/trash?class=\(PanelBrowser.encode(id))")
                #expect(page.status == 404 && !page.text.contains("<script>"))
                #expect(try await browser.get("/panel/trash?page=\(PanelBrowser.encode(id))").status == 400)
                #expect(try await browser.post("/panel/trash/empty", ["after": id]).status == 400)
            }
        }
    }
}
