import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct PanelOverviewTests {
    @Test("the overview shows the trash and failed purges to those who may manage them, and to nobody else")
    func attention() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await fixture.pool.query(
                    "SELECT tombolo.trash('Session', $1, NULL, gen_random_uuid())",
                    [.text(fixture.sessions[0].stringValue)])
                try await fixture.pool.query(
                    """
                    INSERT INTO tombolo.trash_kept (address, class, key, reason, is_failure, first_at, last_at, next_at)
                    VALUES ('a', 'Session', 'b', 'a <b>reason</b>', true, now(), now(), now())
                    """)
                let admin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let before = try await admin.get("/panel").text
                #expect(before.contains("<li>Sessions: 1</li>") && !before.contains("within 7 days"))
                #expect(
                    before.contains("couldn&#39;t delete 1 of the groups in the trash: a &lt;b&gt;reason&lt;/b&gt;"))
                try await fixture.pool.query(
                    "INSERT INTO tombolo.trash_retention (class, days) VALUES ('Session', 5)")
                let after = try await admin.get("/panel").text
                #expect(after.contains("Sessions: 1 in the trash will be deleted permanently within 7 days."))
                for role in ["organizer", "attendee"] {
                    let text = try await PanelBrowser.loggedIn(client, as: role).get("/panel").text
                    #expect(!text.contains("In the trash") && !text.contains("Needs attention"), "\(role)")
                }
            }
        }
    }

    @Test("objects kept by the app or the purge aren't announced for deletion soon")
    func kept() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                for name in ["owner", "attendee"] {
                    try await fixture.pool.query(
                        "SELECT tombolo.trash('User', $1, NULL, gen_random_uuid())",
                        [.text(try #require(fixture.users[name]).stringValue)])
                }
                try await fixture.pool.execute("INSERT INTO tombolo.trash_retention (class, days) VALUES ('User', 5)")
                let admin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                func soon(endsIn days: Int) async throws -> [Int] {
                    try await fixture.pool.execute("UPDATE event SET ends_at = now() + interval '\(days) days'")
                    let text = try await admin.get("/panel").text
                    return [1, 2].filter {
                        text.contains(": \($0) in the trash will be deleted permanently within 7 days.")
                    }
                }
                // The owner is kept if the event isn't over when they're due.
                #expect(try await soon(endsIn: 3) == [2])
                #expect(try await soon(endsIn: 30) == [1])
                try await fixture.pool.execute(
                    """
                    INSERT INTO tombolo.trash_kept (address, class, key, reason, is_failure, first_at, last_at, next_at)
                    SELECT trash_group::text, 'User', encode(_id, 'hex'), 'a reason', false, now(), now(), now()
                    FROM users WHERE trashed_at IS NOT NULL
                    """)
                #expect(try await soon(endsIn: 30) == [])
            }
        }
    }
}
