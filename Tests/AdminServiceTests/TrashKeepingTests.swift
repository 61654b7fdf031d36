import AdminService
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite("Besides the usual dates, the trash list shows what is kept, and why")
struct TrashKeepingTests {
    private static func items(_ className: String, _ site: PurgeTests.Site) async throws -> [JSON] {
        let listed = try await site.call(.get, "/admin/trash?class=\(className)", as: "superAdmin")
        #expect(listed.status == 200, "\(listed.text)")
        return listed.json["items"]?.list ?? []
    }

    @Test("an item shows the app's reason, and whether it still holds once the item is due")
    func users() async throws {
        try await PurgeTests.run { site in
            let owner = try #require(site.fixture.users["owner"])
            let attendee = try #require(site.fixture.users["attendee"])
            let due = JSON.timestamp(try await site.trash("User", owner) + 30 * PurgeTests.day)
            try await site.trash("User", attendee)
            for (days, lasts) in [(1, false), (90, true)] {
                try await site.fixture.pool.execute("UPDATE event SET ends_at = now() + interval '\(days) days'")
                let items = try await Self.items("User", site)
                #expect(items.count == 2)
                let kept = try #require(items.first { $0["_id"]?.text == owner.stringValue })
                #expect(kept["keptBecause"]?.text?.contains("Island Days") == true, "\(kept)")
                #expect(kept["isKeptWhenDue"] == .bool(lasts), "\(kept)")
                #expect(kept["purgeAt"]?.text == due)
                let other = try #require(items.first { $0["_id"]?.text == attendee.stringValue })
                #expect(other["keptBecause"] == .null && other["isKeptWhenDue"] == false, "\(other)")
            }
        }
    }

    @Test("an object may be kept by one that was trashed with it, even if the list shows its class only")
    func groups() async throws {
        try await PurgeTests.run { site in
            try await site.fixture.pool.execute(
                """
                CREATE FUNCTION tombolo.keep_session_in_trash(p_key text, p_now timestamptz) RETURNS text LANGUAGE sql
                AS $$SELECT 'it is popular'$$
                """)
            try await site.trash("Event", site.fixture.event)
            let kept = try #require(try await Self.items("Event", site).first)
            #expect(kept["keptBecause"] == "it is popular" && kept["isKeptWhenDue"] == true, "\(kept)")
        }
    }

    @Test(
        "the reason why a purge failed is shown, and a failing app function hides nothing from the list"
    )
    func purged() async throws {
        try await PurgeTests.run { site in
            try await site.fixture.pool.execute(
                """
                CREATE FUNCTION tombolo.keep_session_in_trash(p_key text, p_now timestamptz) RETURNS text LANGUAGE sql
                AS $$SELECT (1 / 0)::text$$
                """)
            try await site.trash("Session", site.fixture.sessions[0])
            let before = try #require(try await Self.items("Session", site).first)
            #expect(before["keptBecause"] == .null && before["isKeptWhenDue"] == false, "\(before)")
            let group = try #require(before["group"]?.text)
            try await site.fixture.pool.query(
                """
                INSERT INTO tombolo.trash_kept (address, class, key, reason, is_failure, first_at, last_at, next_at)
                VALUES ($1, 'Session', $2, 'something refers to it', true, now(), now(), now())
                """, [.text(group), .text(site.fixture.sessions[0].stringValue)])
            let after = try #require(try await Self.items("Session", site).first)
            #expect(after["keptBecause"] == "something refers to it" && after["isKeptWhenDue"] == true, "\(after)")
        }
    }
}
