import PostgresClient
import ServiceTestSupport
import Testing
import TomboloLocalization
import TomboloPostgresStore

@testable import AdminService

@Suite("Results of scheduled jobs are shown in the page's language")
struct ScheduleResultTests {
    private static func german() throws -> MessageCatalogue {
        try MessageCatalogue(
            POFile(
                #"""
                msgid ""
                msgstr "Language: de\n"

                msgid "{0} request was deleted"
                msgid_plural "{0} requests were deleted"
                msgstr[0] "{0} Anfrage gelöscht"
                msgstr[1] "{0} Anfragen gelöscht"

                msgid "one thing"
                msgid_plural "{0}"
                msgstr[0] "ein Ding"
                msgstr[1] "{0}"
                """#))
    }

    private static func note(_ messages: [StoredMessage], _ fixture: ServiceFixture) async {
        await Routine.requestExpiry.note(
            .done(messages), took: .seconds(1), pause: .seconds(600), in: fixture.adminServer.pool)
    }

    private static func deleted(_ count: Int) -> StoredMessage {
        StoredMessage(count, one: "\(count) request was deleted", other: "\(count) requests were deleted")
    }

    /// The result shown for the request expiry job.
    private static func result(_ fixture: ServiceFixture, _ catalogue: MessageCatalogue?) async throws -> String? {
        let works = try await MessageCatalogue.$current.withValue(catalogue) {
            try await Schedule(fixture.adminServer.pool).works(now: 0)
        }
        return try #require(works.first { $0.kind == .requestExpiry }).result
    }

    @Test("a result is stored in English, and also as messages with values for pages in other languages")
    func languages() async throws {
        try await ServiceFixture.with { fixture in
            let german = try Self.german()
            await Self.note([Self.deleted(1), Self.deleted(2), .untranslated("x.dump")], fixture)
            let stored = try await fixture.pool.query("SELECT result FROM tombolo.routine")[0, 0].string
            #expect(stored == "1 request was deleted, 2 requests were deleted, x.dump")
            #expect(try await Self.result(fixture, nil) == stored)
            #expect(try await Self.result(fixture, german) == "1 Anfrage gelöscht, 2 Anfragen gelöscht, x.dump")
            // A failed run keeps nothing of the previous result.
            await Routine.requestExpiry.note(
                .failed(CancellationError()), took: .zero, pause: .zero, in: fixture.adminServer.pool)
            #expect(try await Self.result(fixture, german) == nil)
        }
    }

    @Test("results written by other server versions, or by anybody else, are shown as they are")
    func others() async throws {
        try await ServiceFixture.with { fixture in
            let german = try Self.german()
            await Self.note([Self.deleted(2)], fixture)
            // An older server, which leaves the previous run's messages in place.
            try await fixture.pool.query("UPDATE tombolo.routine SET result = '3 requests were deleted'")
            #expect(try await Self.result(fixture, german) == "3 requests were deleted")
            for json in [
                nil, "null", "7", "{}", "[]", "[null]", #""text""#, #"[{"message": "3 requests were deleted"}]"#,
                #"[{"message": "{0} requests were deleted", "count": "3", "values": ["3"]}]"#,
            ] {
                try await fixture.pool.query("UPDATE tombolo.routine SET messages = $1", [.json(json)])
                #expect(try await Self.result(fixture, german) == "3 requests were deleted", "\(json ?? "NULL")")
            }
            // A message whose text differs from this version's.
            try await fixture.pool.query(
                "UPDATE tombolo.routine SET messages = $1",
                [.json(#"[{"message": "{0} requests were deleted", "values": ["3"]}]"#)])
            #expect(try await Self.result(fixture, german) == "3 requests were deleted")
        }
    }

    @Test("a result that is too long is truncated and stored in English only")
    func long() async throws {
        try await ServiceFixture.with { fixture in
            let german = try Self.german()
            func stored() async throws -> (byteCount: Int64, hasMessages: Bool) {
                let found = try await fixture.pool.query(
                    "SELECT octet_length(result)::bigint, messages IS NOT NULL FROM tombolo.routine")
                return (try found[0, 0].int64, try found[0, 1].bool)
            }
            await Self.note([Self.deleted(1), .untranslated(String(repeating: "ä", count: 600))], fixture)
            let cut = try await stored()
            #expect(cut.byteCount < 510 && !cut.hasMessages)
            #expect(try await Self.result(fixture, german)?.hasPrefix("1 request was deleted, ä") == true)
            // The English text is short, but its value isn't.
            let value = String(repeating: "x", count: 5_000)
            await Self.note([StoredMessage(1, one: "one thing", other: "\(value)")], fixture)
            let short = try await stored()
            #expect(short.byteCount == 9 && !short.hasMessages)
            #expect(try await Self.result(fixture, german) == "one thing")
        }
    }
}
