import PostgresClient
import Testing
import TomboloModel

/// Pages of the panel that are being looked at, while plain SQL changes what they show: the sequencer's ticks, an admin
/// server and its streams are real.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LiveNoticeTests {
    @Test("a row that plain SQL changes is told of to the list and the record that somebody has open, each time")
    func plainSQL() async throws {
        try await Platform.with { platform in
            let session = ObjectId.generate()
            try await platform.sql(
                "INSERT INTO session (_id, event, title, state) VALUES ($1, $2, 'Before', 'accepted')",
                [.bytea(session.bytes), .bytea(platform.event.bytes)])
            try await AdminProcess.with(platform) { url in
                let panel = try await PanelClient(
                    url, email: Platform.email("organizer"), password: Platform.password)
                for path in ["/panel/data/sessions", "/panel/data/sessions/\(session)"] {
                    let page = try await panel.get(path).text
                    let found = try #require(page.firstMatch(of: /data-watches="([^"]+)"/), "\(page)")
                    let stream = String(found.1).replacing("&amp;", with: "&")
                    // The first look of a stream may find the first change. The others come by ticks.
                    var changed = ContinuousClock.now
                    let text = try await panel.changes(stream, count: 3) { number in
                        if number > 0 {
                            let time = ContinuousClock.now - changed
                            print("live notice: change \(number) of \(path): \(Int(time / .milliseconds(1))) ms")
                        }
                        guard number < 3 else { return }
                        changed = ContinuousClock.now
                        try await platform.sql(
                            "UPDATE session SET title = $2 WHERE _id = $1",
                            [.bytea(session.bytes), .text("\(path) \(number)")])
                    }
                    #expect(!text.contains("event: ended"), "\(text)")
                    #expect(try await panel.get(path).text.contains("\(path) 2"))
                }
            }
        }
    }
}
