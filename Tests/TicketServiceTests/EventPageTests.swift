import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TicketService
import TomboloHTTP
import TomboloModel

@Suite struct EventPageTests {
    @Test func thePageShowsEventTicketsInOrderAndTheSchedule() async throws {
        try await TicketTests.run { fixture, call in
            let body = #"{"first": true}"#
            _ = try await call(.post, "/tickets/\(fixture.tickets[4])/move", as: "organizer", body: body)
            let page = try await call(.get, "/events/\(fixture.event)")
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            let list = TicketTests.names(try await call(.get, "/events/\(fixture.event)/tickets"))
            let places = list.map { name in page.text.range(of: "<strong>\(name)</strong>")?.lowerBound }
            #expect(list == ["Supporter", "Early", "Regular", "Student"])
            #expect(places.allSatisfy { $0 != nil } && places.compactMap(\.self) == places.compactMap(\.self).sorted())
            #expect(page.text.contains("10.50 EUR"))
            #expect(page.text.contains("Thursday, 2026-05-14"))
            // 09:00 UTC is 11:00 in Berlin in May.
            #expect(page.text.contains("11:00"))
            #expect(page.text.contains("Talk 1") && page.text.contains("Talk 2"))
            #expect(page.text.contains("Main Hall") && page.text.contains("<bdi>Ada</bdi>, <bdi>Grace</bdi>"))
            #expect(!page.text.contains("Talk 3") && !page.text.contains("Staff"))
            #expect(!page.text.contains("too large"))
        }
    }

    @Test("a name that reverses the writing direction doesn't reverse prices, subtitles or other names")
    func directions() async throws {
        try await TicketTests.run { fixture, call in
            for (name, id, property) in [
                ("Ticket", fixture.tickets[0], "name"), ("Session", fixture.sessions[0], "title"),
                ("Speaker", fixture.speakers[0], "name"),
            ] {
                try await fixture.rows().set(name, id, property, "Left\u{202e}right")
            }
            let page = try await call(.get, "/events/\(fixture.event)").text
            #expect(page.ranges(of: "<strong>Left\u{202e}right</strong>").count == 2)
            #expect(page.contains("<bdi>Left\u{202e}right</bdi>, <bdi>Grace</bdi>"))
            #expect(page.contains("strong { unicode-bidi: isolate; }"))
        }
    }

    @Test("a page that may not show all of an event says so")
    func largeEvent() async throws {
        try await TicketTests.run { fixture, call in
            try await fixture.pool.query(
                """
                INSERT INTO session_speakers (_id, owner, rank, target)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), $1, 'b' || n, $2
                FROM generate_series(1, \(RowReader.rowLimit)) AS n
                """, [.bytea(fixture.sessions[0].bytes), .bytea(fixture.speakers[0].bytes)])
            let page = try await call(.get, "/events/\(fixture.event)")
            #expect(page.status == 200 && page.text.contains("shows at most 5,000 tickets, sessions"), "\(page.text)")
        }
    }

    @Test("details in Markdown are formatted, below the headings of the page")
    func detailsAreFormatted() async throws {
        try await TicketTests.run { fixture, call in
            let details = "# Getting there\n\nBy *train*, or [by boat](https://ferries.example.org)."
            try await fixture.rows().set("Event", fixture.event, "details", .string(details))
            try await fixture.rows().set("Ticket", fixture.tickets[0], "details", "## Includes\n\n- lunch\n- **tea**")
            let page = try await call(.get, "/events/\(fixture.event)").text
            #expect(page.contains("<h2>Getting there</h2>"))
            let link = "<a href=\"https://ferries.example.org\" rel=\"noopener nofollow\">by boat</a>"
            #expect(page.contains("<p>By <em>train</em>, or \(link).</p>"))
            #expect(page.contains("<h3>Includes</h3>"))
            #expect(page.contains("<li><strong>tea</strong>"))
        }
    }

    @Test("days agree with those elsewhere, even before the Gregorian calendar")
    func oldDays() async throws {
        try await TicketTests.run { fixture, call in
            for (time, day) in [
                ("0001-01-02T12:00:00Z", "Tuesday, 0001-01-02"), ("1500-03-01T12:00:00Z", "Thursday, 1500-03-01"),
                ("1582-10-14T12:00:00Z", "Thursday, 1582-10-14"), ("1582-10-15T12:00:00Z", "Friday, 1582-10-15"),
                ("1969-12-31T12:00:00Z", "Wednesday, 1969-12-31"), ("1970-01-01T12:00:00Z", "Thursday, 1970-01-01"),
                // In Berlin it's the next day.
                ("2026-05-12T22:30:00Z", "Wednesday, 2026-05-13"),
            ] {
                let value = Value.date(try #require(Timestamp.microseconds(time)))
                try await fixture.rows().set("Event", fixture.event, "startsAt", value)
                let page = try await call(.get, "/events/\(fixture.event)").text
                #expect(page.contains(day), "\(time)")
            }
        }
    }

    @Test func onlyPublishedPublicLiveEventsHaveAPageWhoeverAsks() async throws {
        try await TicketTests.run { fixture, call in
            for role in [nil, "stranger", "superAdmin"] {
                #expect(try await call(.get, "/events/\(fixture.draft)", as: role).status == 404)
            }
            try await fixture.rows().set("Event", fixture.event, "privacy", "private")
            #expect(try await call(.get, "/events/\(fixture.event)").status == 404)
        }
    }

    @Test func hostileTextIsShownAndNeverRun() async throws {
        let attacks = [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'\"\u{301} onmouseover=alert(1) x=\"",
            "{{{eventName}}}{{#days}}", "</title><svg onload=alert(1)>", "&lt;b&gt;",
            "[a](javascript:alert(1)) ![b](https://x/\"onerror=alert(1)) <img src=x>", "`<script>`\n\n> \"<svg>",
            "[good.example](https://good.example@evil.example)",
        ]
        try await TicketTests.run { fixture, call in
            for attack in attacks {
                let value = Value.string(attack)
                try await fixture.rows().set("Event", fixture.event, "name", value)
                try await fixture.rows().set("Event", fixture.event, "details", value)
                try await fixture.rows().set("Ticket", fixture.tickets[0], "details", value)
                try await fixture.rows().set("Event", fixture.event, "locationName", value)
                try await fixture.rows().set("Event", fixture.event, "websiteURL", .string("https://x/" + attack))
                try await fixture.rows().set("Event", fixture.event, "timezone", value)
                try await fixture.rows().set("Ticket", fixture.tickets[0], "name", value)
                try await fixture.rows().set("Ticket", fixture.tickets[0], "currency", value)
                try await fixture.rows().set("Session", fixture.sessions[0], "title", value)
                try await fixture.rows().set("Speaker", fixture.speakers[0], "name", value)
                try await fixture.rows().set("Microlocation", fixture.room, "name", value)
                let page = try await call(.get, "/events/\(fixture.event)")
                #expect(page.status == 200)
                for piece in ["href=\"https://good.example@", "<script", "<img", "<svg", "\"\u{301}", "' onmouse"] {
                    #expect(!page.text.unicodeScalars.map(String.init).joined().contains(piece), "\(attack)")
                }
                #expect(
                    page.text.utf8.count { $0 == UInt8(ascii: "<") } == page.text.utf8.count { $0 == UInt8(ascii: ">") }
                )
            }
            try await fixture.rows().set("Event", fixture.event, "websiteURL", "javascript:alert(1)")
            let page = try await call(.get, "/events/\(fixture.event)")
            #expect(!page.text.contains("javascript:"))
        }
    }
}
