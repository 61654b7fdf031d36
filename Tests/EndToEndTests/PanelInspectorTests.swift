import Foundation
import PostgresClient
import Testing
import TomboloModel

/// The panel's pages about devices, with two real gateways. One of them is killed.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct PanelInspectorTests {
    @Test("the panel shows all gateways' devices and says why one lacks an object, even after a gateway is killed")
    func gateways() async throws {
        try await Platform.with(gateways: 2) { platform in
            try await platform.sql(
                #"INSERT INTO role_assignment (_id, "user", role) VALUES ($1, $2, 'superAdmin')"#,
                [.bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: "stranger").bytes)])
            let first = try await platform.device("first", of: "organizer", gateway: 0)
            let second = try await platform.device("second", of: "attendee", gateway: 1)
            for device in [first, second] { try await device.ask("subscribe", "Event") }
            let attendee = PanelClient.encode(Platform.email("attendee"))
            let organizer = PanelClient.encode(Platform.email("organizer"))
            try await AdminProcess.with(platform) { url in
                let panel = try await PanelClient(
                    url, email: Platform.email("stranger"), password: Platform.password)
                @Sendable func why(_ object: ObjectId, _ user: String) async throws -> String {
                    try await panel.get("/panel/devices/why?class=Event&object=\(object.stringValue)&user=\(user)").text
                }

                try await platform.eventually("both devices on the page") {
                    let page = try await panel.get("/panel/devices").text
                    return page.contains("2 connected devices") && page.contains("The organizer")
                        && page.contains("The attendee") && !page.contains("No answer from")
                        && page.contains("Event, all objects")
                }
                // The device at each gateway, and its page.
                for user in [organizer, attendee] {
                    // A page waits three seconds for the gateways, which may not be enough here.
                    try await platform.eventually("the device of \(user), and its page") {
                        let page = try await panel.get("/panel/devices?user=\(user)").text
                        guard page.contains("1 connected device<"),
                            let link = page.firstMatch(of: /\/panel\/devices\/[0-9a-f]{24}\/[0-9]+/)
                        else { return false }
                        let detail = try await panel.get(String(link.0))
                        return detail.status == 200 && detail.text.contains("Subscriptions: 1")
                    }
                    try await platform.eventually("an event that was delivered") {
                        try await why(platform.event, user).contains("The device should have the object")
                    }
                }
                try await platform.eventually("an event that isn't readable") {
                    let denied = try await why(platform.draft, attendee)
                    return denied.contains("not_readable") && denied.contains("live at ")
                }

                // Users who may not inspect learn nothing.
                let other = try await PanelClient(url, email: Platform.email("attendee"), password: Platform.password)
                #expect(try await other.get("/panel/devices").status == 403)

                try await platform.gateways[1].kill9()
                // Pretends that the gateway was seen a moment ago, however long this took. A page that waited for it
                // without a limit would never arrive.
                @Sendable func keepKnown() async throws {
                    try await platform.sql("UPDATE tombolo.gateway SET seen_at = clock_timestamp()")
                }
                try await platform.eventually("a page without the killed gateway's answer") {
                    try await keepKnown()
                    let page = try await panel.get("/panel/devices").text
                    return page.contains("No answer from") && page.contains("The organizer")
                        && page.contains("1 connected device<")
                }
                try await platform.eventually("a device that may be at the killed gateway") {
                    try await keepKnown()
                    let unknown = try await why(platform.event, attendee)
                    return unknown.contains("connected to a gateway that answered")
                        && unknown.contains("There may be a connection to")
                }

                // Later, pages no longer wait for it.
                try await platform.eventually("a gateway that is known to be gone") {
                    try await panel.get("/panel/devices").text.contains("stopped without signing off")
                }
                try await platform.eventually("a device that is at no gateway") {
                    try await why(platform.event, attendee).contains("connected to any gateway")
                }

                // After a restart the gateway has its device again, and answers.
                try await platform.gateways[1].start()
                try await platform.eventually("the second device at the gateway that started again") {
                    let page = try await panel.get("/panel/devices").text
                    return page.contains("2 connected devices") && page.contains("The attendee")
                }
                // A gateway that shuts down properly leaves nothing behind.
                try await platform.gateways[0].terminate()
                try await platform.eventually("no trace of the gateway that was asked to end") {
                    let rows = try await platform.sql(
                        "SELECT count(*) FROM tombolo.gateway WHERE seen_at > clock_timestamp() - interval '15 s'")
                    return try rows[0, 0].int == 1
                }
            }
            for device in [first, second] { try await device.kill9() }
        }
    }
}
