import PostgresClient
import Testing
import TomboloModel

/// Pages of the panel are open while plain SQL changes the rows that they show. The sequencer's ticks, the admin server
/// and its streams are real.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LiveNoticeTests {
    @Test("open lists and records are told about every row that plain SQL changes")
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
                    // If the database is too slow for a stream's query, the stream ends, and a browser asks for
                    // another.
                    var text: String?
                    for attempt in 1...5 where text == nil {
                        do {
                            text = try await Self.watch(path, attempt, panel, session, platform)
                        } catch let error as EndToEndFailure {
                            guard attempt < 5 else { throw error }
                            print("live notice: \(path) again: \(error)")
                        }
                    }
                    #expect(text?.contains("event: ended") == false, "\(text ?? "")")
                    try await platform.eventually("the last title on \(path)") {
                        try await panel.get(path).text.contains("\(path) 2")
                    }
                }
            }
        }
    }

    /// Changes the session's title three times, each time after the page's stream has reported the previous change.
    /// - Returns: everything that the stream sent.
    private static func watch(
        _ path: String, _ attempt: Int, _ panel: PanelClient, _ session: ObjectId, _ platform: Platform
    ) async throws -> String {
        let page = try await panel.get(path).text
        guard let found = page.firstMatch(of: /data-watches="([^"]+)"/) else {
            throw EndToEndFailure("The page has no stream: \(page)")
        }
        let stream = String(found.1).replacing("&amp;", with: "&")
        // The stream's first query may find the first change. The others arrive with ticks.
        var changed = ContinuousClock.now
        return try await panel.changes(stream, count: 3) { number in
            if number > 0 {
                let time = ContinuousClock.now - changed
                print("live notice: change \(number) of \(path): \(Int(time / .milliseconds(1))) ms")
            }
            guard number < 3 else { return }
            changed = ContinuousClock.now
            try await platform.sql(
                "UPDATE session SET title = $2 WHERE _id = $1",
                [.bytea(session.bytes), .text("\(path) \(number), attempt \(attempt)")])
        }
    }
}
