import PostgresClient
import TomboloModel
import Testing

@Suite(.serialized)
struct RefusalTests {
    @Test
    func `A refused changeset and a lost edit leave the device equal to the server with its other edits kept`()
        async throws
    {
        try await Platform.with { platform in
            let before = try await platform.insertListing("before", price: 1)
            let contested = try await platform.insertListing("contested", price: 1)
            let after = try await platform.insertListing("after", price: 1)
            let device = try await platform.device("A", of: "organizer")
            try await device.ask("subscribe", "Listing", "User")
            let own = try platform.id(of: "organizer").stringValue

            try await device.ask("offline")
            try await device.ask("set", "Listing", before.stringValue, "price=i:2")
            try await device.ask("set", "User", own, "email=s:\(Platform.email("stranger"))")
            try await device.ask("set", "Listing", contested.stringValue, "price=i:3", "bedrooms=i:4")
            try await device.ask("set", "Listing", after.stringValue, "price=i:5")
            #expect(try await device.ask("get", "User", own, "email") == Platform.email("stranger"))
            try await platform.sql("UPDATE listing SET price = 30 WHERE _id = $1", [.bytea(contested.bytes)])
            try await device.ask("online")
            try await platform.quiet([device])

            let rows = try await platform.sql(
                "SELECT price, bedrooms FROM listing WHERE location IN ('before', 'contested', 'after') ORDER BY price")
            #expect(try rows.map { [try $0[0].int, try $0[1].int] } == [[2, 1], [5, 1], [30, 4]])
            #expect(try await device.ask("get", "User", own, "email") == Platform.email("organizer"))
            let comparison = Comparison(platform: platform)
            #expect(try await comparison.differences("Listing", on: device) == [])
            #expect(try await comparison.differences("User", where: "encode(_id, 'hex') = '\(own)'", on: device) == [])
            let problems = try await device.ask("problems").split(separator: "\t")
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("writeRejected [2]") == true, "\(problems)")
            try await device.kill9()
        }
    }
}
