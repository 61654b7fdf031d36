import Foundation
import Testing
import TomboloModel

/// An app's own admin server, as a process.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ConferenceAdminTests {
    @Test("conference-admin is an admin server that adds the event platform's own pages")
    func pages() async throws {
        try await Platform.with { platform in
            try await AdminProcess.with(platform, kind: .conferenceAdmin) { url in
                let panel = try await PanelClient(
                    url, email: Platform.email("organizer"), password: Platform.password)
                let overview = try await panel.get("/panel").text
                #expect(overview.contains(#"<a href="/panel/sales""#), "\(overview)")
                let sales = try await panel.get("/panel/sales/\(platform.event.stringValue)")
                #expect(sales.status == 200, "\(sales.text)")
                #expect(try await panel.get("/panel/sales/\(platform.draft.stringValue)").status == 403)
                let attendee = try await PanelClient(
                    url, email: Platform.email("attendee"), password: Platform.password)
                #expect(try await attendee.get("/panel/sales").status == 403)
            }
        }
    }
}
