import Testing

@Suite(.serialized)
struct HomeListingsTests {
    @Test
    func `A subscription brings its 100 listings, and its removal takes them off the device but not off the server`()
        async throws
    {
        try await Platform.with { platform in
            try await platform.sql(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), CASE WHEN n <= 200 THEN 'dallas' ELSE 'austin' END,
                    CASE WHEN n <= 100 OR n > 150 THEN 250000 ELSE 300000 END, CASE WHEN n <= 150 THEN 3 ELSE 2 END
                FROM generate_series(1, 300) AS n
                """)
            let device = try await platform.device("A", of: "attendee")
            try await device.ask("subscribe-homes")
            #expect(try await device.ask("count", "Listing") == "100")
            let condition = "location = 'dallas' AND price < 300000 AND bedrooms >= 3"
            #expect(try await Comparison(platform: platform).differences("Listing", where: condition, on: device) == [])
            try await device.ask("unsubscribe-homes")
            #expect(try await device.ask("count", "Listing") == "0")
            #expect(try await platform.count("SELECT count(*) FROM listing WHERE \(condition)") == 100)
            try await device.kill9()
        }
    }
}
