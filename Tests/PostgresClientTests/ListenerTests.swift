import PostgresClient
import TestSupport
import Testing

@Suite struct ListenerTests {
    @Test("Notifications arrive in order, and each reconnect is announced")
    func notifications() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let sender = try await PostgresConnection.connect(configuration)
        let listener = PostgresListener(configuration: configuration, channels: ["news", "Other \"one\""])
        async let running: Void = listener.run()
        var events = listener.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try await sender.query("SELECT pg_notify('news', 'first'), pg_notify('Other \"one\"', '')")
        #expect(await events.next() == .notification(channel: "news", payload: "first"))
        #expect(await events.next() == .notification(channel: "Other \"one\"", payload: ""))
        for round in 0..<3 {
            try await sender.query("SELECT pg_terminate_backend($1, 10000)", [.int32(listener.processID)])
            #expect(await events.next() == .connected)
            try await sender.query("SELECT pg_notify('news', $1)", [.text("round \(round)")])
            #expect(await events.next() == .notification(channel: "news", payload: "round \(round)"))
        }
        listener.stop()
        await running
        #expect(await events.next() == nil)
    }

    @Test("A listener nobody reads keeps a bounded number of events and reports the gap")
    func unreadListener() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let sender = try await PostgresConnection.connect(configuration)
        let listener = PostgresListener(configuration: configuration, channels: ["news"], eventLimit: 10)
        let running = Task { await listener.run() }
        var events = listener.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try await sender.query("SELECT pg_notify('news', i::text) FROM generate_series(1, 1000) i")
        #expect(await events.next() == .connected)
        running.cancel()
        await running.value
        var rest = 0
        while await events.next() != nil { rest += 1 }
        #expect(rest <= 10)
    }

    @Test("A cancelled reader stops waiting for events")
    func cancelledReader() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let listener = PostgresListener(configuration: configuration, channels: ["news"])
        let running = Task { await listener.run() }
        let reader = Task {
            var count = 0
            for await _ in listener.events { count += 1 }
            return count
        }
        reader.cancel()
        #expect(await reader.value <= 1)
        running.cancel()
        await running.value
    }
}
