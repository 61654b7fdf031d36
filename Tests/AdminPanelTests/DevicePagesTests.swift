import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

/// The pages about devices, with stand-ins for gateways in the database; `PanelInspectorTests` uses real gateways.
@Suite(.timeLimit(.minutes(15))) struct DevicePagesTests {
    private static func session(_ number: Int, client: String, user: String, behind: Int) -> JSON {
        [
            "id": .string("\(number)"), "client": .string(client), "user": .string(user), "address": "192.0.2.7",
            "state": "live", "connectedSeconds": 7_500,
            "subscriptions": [
                "version": 3, "count": 5,
                "first": [["name": "cheap", "class": "Session", "objects": "title == '<b>'"]],
            ],
            "waitingSubscriptions": nil,
            "position": [
                "tick": 12, "sentTick": 12, "behindTicks": .int(Int64(behind)), "behindMilliseconds": 1_250,
                "unappliedBatches": 0, "isFollowing": true,
            ],
            "uploads": ["waiting": 0, "underWay": 0, "received": 7, "acknowledged": 6], "sending": ["isWritable": true],
        ]
    }

    /// A page, reloaded until all these gateways answered in time, which they may not on a busy machine.
    private static func page(
        _ path: String, _ browser: PanelBrowser, answeredBy gateways: StandInGateway...
    ) async throws -> String {
        while true {
            let text = try await browser.get(path).text
            let silent = text.firstMatch(of: /(?:No answer from|Keine Antwort von) (.+?) (?:within|innerhalb)/)?.1 ?? ""
            if !gateways.contains(where: { silent.contains($0.name) }) { return text }
        }
    }

    private static func sessions(_ gateway: StandInGateway, _ sessions: [JSON]) -> JSON {
        [
            "gateway": .string(gateway.name), "count": .int(Int64(sessions.count)), "page": 1, "newestTick": 12_345,
            "sessions": .array(sessions),
        ]
    }

    @Test("without a gateway the page says that none is running, and still lists all devices")
    func noGateway() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await browser.get("/panel/devices")
                #expect(page.status == 200 && page.text.contains("No gateway is running on this database"))
                #expect(try await browser.get("/panel/devices/known").text.contains("No device has synced yet"))
                #expect(try await browser.get("/panel/devices/why").status == 200)
                let nowhere = try await browser.get("/panel/devices/\(ObjectId.generate())/1")
                #expect(nowhere.status == 404, "\(nowhere.text)")
            }
        }
    }

    @Test("devices of all gateways are in one list, which names a gateway that doesn't answer within the time limit")
    func severalGateways() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let (one, two) = (
                    StandInGateway(fixture.pool, name: "one:1"), StandInGateway(fixture.pool, name: "two:2")
                )
                let (dead, old) = (
                    StandInGateway(fixture.pool, name: "dead:3"), StandInGateway(fixture.pool, name: "old:4")
                )
                for gateway in [one, two, dead] { try await gateway.register() }
                try await old.register(age: 60)
                let owner = try #require(fixture.users["owner"]).stringValue
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await StandInGateway.answering([one, two]) { gateway, request in
                    if request == "/inspector/sessions/7" {
                        return (
                            200,
                            ["gateway": "one:1", "session": Self.session(7, client: "1k2x9", user: owner, behind: 3)]
                        )
                    }
                    guard request.hasPrefix("/inspector/sessions?page=1&subscriptions=3") else {
                        return (400, ["message": .string("unexpected \(request)")])
                    }
                    let isFirst = gateway.name == "one:1"
                    let session = Self.session(
                        isFirst ? 7 : 8, client: isFirst ? "1k2x9" : "zz", user: isFirst ? owner : "f00", behind: 3)
                    return (200, Self.sessions(gateway, [session]))
                } _: {
                    let page = try await Self.page("/panel/devices", browser, answeredBy: one, two)
                    #expect(page.contains("2 connected devices"), "\(page)")
                    for text in [
                        "The owner", "1k2x9", "zz", "f00", "2 h 5 min", "3 ticks, 1.2 s", "12,345", "and 4 more",
                        "title == &#39;&lt;b&gt;&#39;",
                        "No answer from dead:3 within 3 seconds", "old:4 stopped without signing off",
                        "/panel/devices/\(one.id)/7",
                    ] { #expect(page.contains(text), "\(text)") }
                    var detail = try await browser.get("/panel/devices/\(one.id)/7").text
                    // On a busy machine, a gateway's answer may come too late.
                    while detail.contains("doesn&#39;t answer") {
                        detail = try await browser.get("/panel/devices/\(one.id)/7").text
                    }
                    for text in ["192.0.2.7", "7 received, 6 acknowledged", "The owner", "Subscriptions: 5"] {
                        #expect(detail.contains(text), "\(text): \(detail)")
                    }
                }
                // The questions and answers are gone.
                for table in ["question", "answer"] {
                    let count = try await fixture.pool.query("SELECT count(*) FROM tombolo.inspector_\(table)")[0, 0]
                        .int
                    #expect(count == 0)
                }
            }
        }
    }

    @Test("all gateways are asked why a device lacks an object, and the answers are shown as one")
    func why() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let (one, two) = (
                    StandInGateway(fixture.pool, name: "one:1"), StandInGateway(fixture.pool, name: "two:2")
                )
                for gateway in [one, two] { try await gateway.register() }
                let owner = try #require(fixture.users["owner"]).stringValue
                let session = fixture.sessions[0].stringValue
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let elsewhere: JSON = [
                    "code": "not_connected_here", "message": "The device isn't connected to gateway x",
                    "details": ["ask that one"],
                ]
                func absent(_ client: String) -> JSON {
                    [
                        "client": .string(client), "user": .string(owner), "isConnectedHere": false,
                        "lastSeen": "2026-11-01T00:00:00Z", "reasons": [elsewhere],
                    ]
                }
                let missed: JSON = [
                    "code": "no_subscription_matches", "message": "None of the subscriptions matches",
                    "details": ["The subscription 'mine' requires price < 200, but price is 900"],
                ]
                let present: JSON = [
                    "client": "here", "user": .string(owner), "isConnectedHere": true, "isVisible": false,
                    "state": "live", "tick": 9, "reasons": [missed],
                ]
                let expected = "/inspector/why?class=Session&id=\(session)&user=\(owner)"
                let answers: [String: [JSON]] = [
                    "one:1": [present, absent("gone")], "two:2": [absent("here"), absent("gone")],
                ]
                try await StandInGateway.answering([one, two]) { gateway, request in
                    guard request == expected else { return (400, ["message": .string("unexpected \(request)")]) }
                    return (
                        200,
                        [
                            "connectedDevices": gateway.name == "one:1" ? 1 : 0,
                            "devices": .array(answers[gateway.name] ?? []),
                        ]
                    )
                } _: {
                    let email = PanelBrowser.encode(ServiceFixture.email("owner"))
                    let page = try await Self.page(
                        "/panel/devices/why?class=Session&object=\(session)&user=\(email)", browser,
                        answeredBy: one, two)
                    #expect(page.contains("price &lt; 200, but price is 900"), "\(page)")
                    #expect(page.contains("live at one:1, tick 9") && page.contains("The owner"))
                    // A device that one gateway knows isn't reported as absent by the other.
                    #expect(page.components(separatedBy: "<code>here</code>").count == 2)
                    #expect(page.components(separatedBy: "<code>gone</code>").count == 2)
                    #expect(page.contains("connected to any gateway. It was last seen on 2026-11-01"))
                    #expect(!page.contains("ask that one"))
                }
                let nobody = try await browser.get("/panel/devices/why?class=Session&object=\(session)&user=nobody")
                #expect(nobody.text.contains("No account has this address or id"))
                let record = try await browser.get("/panel/data/sessions/\(session)").text
                #expect(record.contains("/panel/devices/why?class=Session&amp;object=\(session)"))
            }
        }
    }

    @Test(
        "the reason why a device lacks an object is in the page's language; an older gateway's text is shown as it is")
    func language() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let gateway = StandInGateway(fixture.pool, name: "one:1")
                try await gateway.register()
                let owner = try #require(fixture.users["owner"]).stringValue
                let session = fixture.sessions[0].stringValue
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                browser.setCookie("tombolo_language", "de")
                let (condition, value, name) = ("price < 200", "price is 900", "mine")
                let failure = Wording("\(condition), but \(value)")
                let detail = Wording("The subscription '\(name)' requires \(failure)")
                let unmatched: JSON = [
                    "code": "not_subscribed", "message": "The device has no subscription to Session.",
                    "details": [.string(detail.description)],
                    "messageWording": Wording("The device has no subscription to \("Session").").json,
                    "detailWordings": [detail.json],
                ]
                let older: JSON = ["code": "not_open", "message": "It isn't open yet", "details": ["Wait a little"]]
                let device: JSON = [
                    "client": "here", "user": .string(owner), "isConnectedHere": true, "isVisible": false,
                    "state": "live", "tick": 9, "reasons": [unmatched, older],
                ]
                try await StandInGateway.answering([gateway]) { _, _ in
                    (200, ["connectedDevices": 1, "devices": [device]])
                } _: {
                    let email = PanelBrowser.encode(ServiceFixture.email("owner"))
                    let page = try await Self.page(
                        "/panel/devices/why?class=Session&object=\(session)&user=\(email)", browser, answeredBy: gateway
                    )
                    #expect(page.contains("Kein Abonnement des Geräts betrifft Session."), "\(page)")
                    let asked = "Das Abonnement „mine“ verlangt price &lt; 200, aber price is 900"
                    #expect(page.contains(asked), "\(page)")
                    #expect(page.contains("Wait a little"), "\(page)")
                }
            }
        }
    }

    @Test("a gateway's refusal is shown with its reason, and users who may not inspect get no page")
    func refusals() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let gateway = StandInGateway(fixture.pool, name: "one:1")
                try await gateway.register()
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await StandInGateway.answering([gateway]) { _, _ in
                    (403, ["code": "forbidden", "message": "No role lets you <inspect>", "hint": "see the rules"])
                } _: {
                    let page = try await Self.page("/panel/devices", browser, answeredBy: gateway)
                    #expect(page.contains("No role lets you &lt;inspect&gt;") && page.contains("see the rules"))
                    var status = try await browser.get("/panel/devices/\(gateway.id)/3").status
                    while status == 503 {
                        status = try await browser.get("/panel/devices/\(gateway.id)/3").status
                    }
                    #expect(status == 403)
                }
                for role in ["admin", "owner", "attendee"] {
                    let other = try await PanelBrowser.loggedIn(client, as: role)
                    for path in ["", "/known", "/why", "/\(gateway.id)/3"] {
                        #expect(try await other.get("/panel/devices\(path)").status == 403, "\(role) \(path)")
                    }
                    #expect(!(try await other.get("/panel").text.contains("/panel/devices")))
                }
            }
        }
    }

    @Test(
        "while somebody views as another user, no gateway is asked, because it would answer with the viewer's own rights"
    )
    func viewing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await StandInGateway(fixture.pool, name: "one:1").register()
                let other = try await fixture.authenticator.register(
                    email: "second@example.org", password: ServiceFixture.password, displayName: "Second")
                try await fixture.rows().insert(
                    "RoleAssignment", ["user": .objectId(other), "role": "superAdmin", "event": .null])
                fixture.forgetRoles()
                #expect(try await browser.post("/panel/view-as", ["user": "\(other)"]).status == 303)
                let page = try await browser.get("/panel/devices")
                #expect(page.status == 200 && page.text.contains("Stop viewing as Second"), "\(page.text)")
                let count = try await fixture.pool.query("SELECT count(*) FROM tombolo.inspector_question")[0, 0].int
                #expect(count == 0)
            }
        }
    }

    @Test("each user's waiting questions are limited")
    func bounds() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let gateway = StandInGateway(fixture.pool, name: "one:1")
                try await gateway.register()
                let user = try #require(fixture.users["superAdmin"])
                // Dated ahead, because questions count for ten seconds only and the test may be slow.
                try await fixture.pool.query(
                    """
                    INSERT INTO tombolo.inspector_question (user_id, session_id, request, asked_at)
                    SELECT $1, $1, '/', clock_timestamp() + interval '10 minutes' FROM generate_series(1, 4)
                    """, [.bytea(user.bytes)])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await browser.get("/panel/devices")
                #expect(page.text.contains("Too many questions"), "\(page.text)")
            }
        }
    }
}
