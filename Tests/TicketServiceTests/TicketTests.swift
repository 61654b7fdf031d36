import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TicketService
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite struct TicketTests {
    static func run(_ body: @escaping @Sendable (ServiceFixture, Caller) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let app = try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.ticketServer.authenticator)
            try await app.test(.router) { try await body(fixture, Caller($0, fixture)) }
        }
    }

    static func names(_ answer: Answer) -> [String] {
        (answer.json["tickets"]?.list ?? []).compactMap { $0["name"]?.text }
    }

    @Test func ticketsComeInOrderWithPositionsAndHiddenOnesForOrganizersOnly() async throws {
        try await Self.run { fixture, call in
            let path = "/events/\(fixture.event)/tickets"
            for role in [nil, "attendee", "stranger"] {
                let answer = try await call(.get, path, as: role)
                #expect(answer.status == 200)
                #expect(Self.names(answer) == ["Early", "Regular", "Student", "Supporter"])
                #expect(answer.json["tickets"]?.list.compactMap { $0["position"]?.number } == [1, 2, 3, 4])
                #expect(!answer.text.contains("Staff"))
            }
            for role in ["owner", "organizer", "coorganizer", "registrar", "superAdmin"] {
                let answer = try await call(.get, path, as: role)
                #expect(Self.names(answer) == ["Early", "Regular", "Staff", "Student", "Supporter"], "\(role)")
            }
        }
    }

    @Test func anEventThatTheCallerMayNotSeeDoesNotExist() async throws {
        try await Self.run { fixture, call in
            let draft = try await call(.get, "/events/\(fixture.draft)/tickets", as: "attendee")
            let none = try await call(.get, "/events/\(ObjectId.generate())/tickets", as: "attendee")
            #expect(draft.status == 404)
            #expect(draft.text == none.text)
            #expect(try await call(.get, "/events/\(fixture.draft)/tickets").status == 404)
            #expect(try await call(.get, "/events/\(fixture.draft)/tickets", as: "stranger").status == 200)
        }
    }

    @Test("an event with a very long text still has its lists")
    func listsBesideLongText() async throws {
        try await Self.run { fixture, call in
            try await fixture.pool.query(
                "UPDATE event SET details = repeat('x', \(HTTPLimits.listByteCount + 1_000)) WHERE _id = $1",
                [.objectId(fixture.event)])
            for list in ["tickets", "sessions"] {
                let answer = try await call(.get, "/events/\(fixture.event)/\(list)", as: "attendee")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.json[list]?.list.isEmpty == false)
            }
        }
    }

    @Test func everyKindOfMoveGoesWhereItSays() async throws {
        try await Self.run { fixture, call in
            let t = fixture.tickets
            let moves: [(Int, String, [String], Int64)] = [
                (4, #"{"first": true}"#, ["Supporter", "Early", "Regular", "Staff", "Student"], 1),
                (0, #"{"last": true}"#, ["Supporter", "Regular", "Staff", "Student", "Early"], 5),
                (3, #"{"before": "\#(t[1])"}"#, ["Supporter", "Student", "Regular", "Staff", "Early"], 2),
                (4, #"{"after": "\#(t[2])"}"#, ["Student", "Regular", "Staff", "Supporter", "Early"], 4),
            ]
            for (index, body, order, position) in moves {
                let answer = try await call(.post, "/tickets/\(t[index])/move", as: "organizer", body: body)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.json["changed"] == true)
                #expect(answer.json["position"]?.number == position)
                let list = try await call(.get, "/events/\(fixture.event)/tickets", as: "organizer")
                #expect(Self.names(list) == order)
            }
        }
    }

    @Test func aMoveWritesOneRowAndNoneWhereNothingChanges() async throws {
        try await Self.run { fixture, call in
            func versions() async throws -> [Int64] {
                try await fixture.pool.query("SELECT xmin::text::bigint FROM ticket ORDER BY _id").map {
                    try $0[0].int64
                }
            }
            let before = try await versions()
            let body = #"{"after": "\#(fixture.tickets[0])"}"#
            #expect(
                try await call(.post, "/tickets/\(fixture.tickets[4])/move", as: "owner", body: body).status == 200)
            let after = try await versions()
            #expect(zip(before, after).filter { $0 != $1 }.count == 1)
            let again = try await call(.post, "/tickets/\(fixture.tickets[4])/move", as: "owner", body: body)
            #expect(again.json["changed"] == false)
            #expect(try await versions() == after)
        }
    }

    @Test func whoMayMove() async throws {
        try await Self.run { fixture, call in
            let own = "/tickets/\(fixture.tickets[0])/move"
            let body = #"{"last": true}"#
            let anonymous = try await call(.post, own, body: body)
            #expect(anonymous.status == 401)
            for role in ["attendee", "registrar", "stranger", "admin"] {
                #expect(try await [403, 404].contains(call(.post, own, as: role, body: body).status), "\(role)")
            }
            #expect(try await call(.post, own, as: "attendee", body: body).status == 403)
            #expect(try await call(.post, own, as: "stranger", body: body).status == 403)
            // A ticket that they may not even see doesn't exist for them.
            let hidden = "/tickets/\(fixture.tickets[2])/move"
            #expect(try await call(.post, hidden, as: "stranger", body: body).status == 404)
            #expect(
                try await call(.post, "/tickets/\(fixture.draftTicket)/move", as: "organizer", body: body).status == 404
            )
            for role in ["owner", "organizer", "coorganizer", "superAdmin"] {
                #expect(try await call(.post, own, as: role, body: body).status == 200, "\(role)")
            }
        }
    }

    @Test(arguments: [
        ("", 400), ("{", 400), ("null", 422), ("[]", 422), ("{}", 422), (#"{"first": false}"#, 422),
        (#"{"first": 1}"#, 422), (#"{"first": true, "last": true}"#, 422), (#"{"before": 7}"#, 422),
        (#"{"before": "x' OR 1=1"}"#, 422), (#"{"before": "000000000000000000000000"}"#, 422),
        (#"{"position": 1}"#, 422), (#"{"before": "\u0000"}"#, 422),
    ])
    func aBodyThatSaysNoPlaceIsRefusedClearly(body: String, status: Int) async throws {
        try await Self.run { fixture, call in
            let answer = try await call(.post, "/tickets/\(fixture.tickets[0])/move", as: "owner", body: body)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.json["message"]?.text?.isEmpty == false)
            #expect(answer.json["hint"]?.text?.isEmpty == false || status == 400)
            let list = try await call(.get, "/events/\(fixture.event)/tickets", as: "owner")
            #expect(Self.names(list) == ["Early", "Regular", "Staff", "Student", "Supporter"])
        }
    }

    @Test func aTicketCannotMoveNextToItselfOrATicketOfAnotherEvent() async throws {
        try await Self.run { fixture, call in
            let path = "/tickets/\(fixture.tickets[0])/move"
            for id in [fixture.draftTicket, fixture.tickets[0], fixture.event] {
                let answer = try await call(.post, path, as: "superAdmin", body: #"{"before": "\#(id)"}"#)
                #expect(answer.status == 422, "\(answer.text)")
            }
        }
    }

    @Test(arguments: ["1", "x", "%00", "..%2f..", "000000000000000000000000", "'%20OR%201=1--", "{id}"])
    func hostileIDsAreAnsweredWithoutAnError(id: String) async throws {
        try await Self.run { _, call in
            for (method, path, body) in [
                (HTTPRequest.Method.get, "/events/\(id)", nil), (.get, "/events/\(id)/tickets", nil),
                (.post, "/tickets/\(id)/move", #"{"first": true}"#),
            ] {
                let answer = try await call(method, path, as: "owner", body: body)
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status) \(answer.text)")
            }
        }
    }

    @Test func aTicketWithoutEventOrInATrashedEventDoesNotMove() async throws {
        try await Self.run { fixture, call in
            let loose = try await fixture.rows().insert("Ticket", ["name": "Loose", "rank": "a0", "kind": "free"])
            let answer = try await call(.post, "/tickets/\(loose)/move", as: "superAdmin", body: #"{"first": true}"#)
            #expect(answer.status == 409)
            #expect(answer.json["properties"] == ["event"])
            try await fixture.pool.query(
                "SELECT tombolo.trash('Event', $1, NULL, gen_random_uuid())", [.text(fixture.event.stringValue)])
            let gone = try await call(
                .post, "/tickets/\(fixture.tickets[0])/move", as: "superAdmin", body: #"{"last": true}"#)
            #expect(gone.status == 404)
            #expect(try await call(.get, "/events/\(fixture.event)/tickets", as: "owner").status == 404)
            #expect(try await call(.get, "/events/\(fixture.event)").status == 404)
        }
    }

    @Test("a move records for the audit log who made it, and one that changes nothing records nothing")
    func authors() async throws {
        try await Self.run { fixture, call in
            let before = try await fixture.pool.query("SELECT coalesce(max(seq), 0) FROM tombolo.changelog")[0, 0].int64
            for role in ["organizer", "owner"] {
                let move = try await call(
                    .post, "/tickets/\(fixture.tickets[role == "owner" ? 1 : 4])/move", as: role,
                    body: #"{"first": true}"#)
                #expect(move.status == 200, "\(move.text)")
            }
            let same = try await call(
                .post, "/tickets/\(fixture.tickets[1])/move", as: "coorganizer", body: #"{"first": true}"#)
            #expect(same.json["changed"] == false, "\(same.text)")
            let marks = try await fixture.pool.query(
                "SELECT marks FROM tombolo.changelog WHERE seq > $1 AND marks LIKE '%users%' ORDER BY seq",
                [.int64(before)]
            ).map { try $0[0].string }
            #expect(marks.count == 2)
            for (text, (role, ticket)) in zip(marks, [("organizer", 4), ("owner", 1)]) {
                #expect(
                    text.contains("\(fixture.tickets[ticket])") && text.contains("POST /tickets/{id}/move"), "\(text)")
                #expect(text.contains(try #require(fixture.users[role]).stringValue), "\(text)")
            }
        }
    }
}
