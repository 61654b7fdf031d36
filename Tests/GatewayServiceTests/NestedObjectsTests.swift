import Foundation
import PostgresClient
import TestSupport
import Testing
import Tombolo
import TomboloModel

/// Embedded objects, lists in lists, and cascades end to end: device, wire, PostgreSQL, another device.
@MainActor
@Suite(.serialized)
struct NestedObjectsTests {
    @Test
    func `Everything inside an object reaches PostgreSQL and another device, and merges part by part`() async throws {
        let schema = try Schema.of(Voyage.classes)
        try await GatewayFixture.with(schema) { fixture in
            let writing = try await Self.device("A", fixture)
            let reading = try await Self.device("B", fixture)
            let key = UUID()
            try writing.write {
                let voyage = Voyage(value: ["_id": key, "name": "North"])
                voyage.start = Harbour(value: ["town": "Kiel", "place": [54.3, 10.1], "berths": [3, 1]])
                voyage.legs.append(Leg(value: ["miles": 90, "end": ["town": "Aarhus"], "stops": [[55.0, 10.5]]]))
                voyage.legs.append(Leg(value: ["miles": 120, "stops": [[57.0, 11.0], [58.0, 11.2]]]))
                voyage.tags.append(objectsIn: ["a", "b", "a"])
                voyage.depths.append(objectsIn: [2.5, nil])
                voyage.sailors.append(Sailor(value: ["Ann"]))
                voyage.sailors.append(Sailor(value: ["Bob"]))
                writing.add(voyage)
                writing.add(LogBook(value: [1, "Log", voyage]))
            }
            let written = try #require(writing.object(ofType: Voyage.self, forPrimaryKey: key)).summary
            try await Self.expect(written, key, on: reading)
            let sql = """
                SELECT start_town || start_place_latitude || (SELECT count(*) FROM voyage_legs_stops) FROM voyage
                """
            #expect(try await fixture.pool.query(sql)[0, 0].string == "Kiel54.33")

            // Two devices edit different parts of one object offline.
            writing.syncSession?.suspend()
            reading.syncSession?.suspend()
            try Self.edit(writing, key) { voyage in
                voyage.start?.town = "Flensburg"
                voyage.legs[0].stops.append(Position(value: [55.5, 10.7]))
                voyage.tags.remove(at: 1)
                voyage.sailors.append(Sailor(value: ["Cay"]))
            }
            try Self.edit(reading, key) { voyage in
                voyage.start?.place?.longitude = 9.4
                voyage.legs[0].miles = 95
                voyage.legs[1].end = Harbour(value: ["town": "Oslo", "berths": [9]])
                voyage.legs[1].stops.remove(at: 0)
                voyage.tags.append("c")
            }
            writing.syncSession?.resume()
            reading.syncSession?.resume()
            try await writing.syncSession?.waitForUpload()
            try await reading.syncSession?.waitForUpload()
            let merged =
                "North; Flensburg (54.3 9.4) [3, 1]; "
                + #"["95 to Aarhus - [] by [\"(55.0 10.5)\", \"(55.5 10.7)\"]", "120 to Oslo - [9] by [\"(58.0 11.2)\"]"]; "#
                + #"["a", "a", "c"]; ["2.5", "nil"]; ["Ann", "Bob", "Cay"]; 1 Log"#
            try await Self.expect(merged, key, on: writing)
            try await Self.expect(merged, key, on: reading)

            // Plain SQL.
            _ = try await fixture.pool.query(
                "UPDATE voyage SET start_town = 'Husum', start_berths = NULL WHERE name = 'North'")
            _ = try await fixture.pool.query("DELETE FROM voyage_legs WHERE miles = 120")
            let changed =
                "North; Husum (54.3 9.4) []; "
                + #"["95 to Aarhus - [] by [\"(55.0 10.5)\", \"(55.5 10.7)\"]"]; "#
                + #"["a", "a", "c"]; ["2.5", "nil"]; ["Ann", "Bob", "Cay"]; 1 Log"#
            try await Self.expect(changed, key, on: writing)
            try await Self.expect(changed, key, on: reading)

            // Deleting the object deletes what is inside it and what cascades. Objects that it only links to stay.
            try writing.write {
                if let voyage = writing.object(ofType: Voyage.self, forPrimaryKey: key) { writing.delete(voyage) }
            }
            #expect(writing.objects(LogBook.self).isEmpty && writing.objects(Sailor.self).count == 3)
            try await writing.syncSession?.waitForUpload()
            try await Self.expect(nil, key, on: reading)
            #expect(reading.objects(LogBook.self).isEmpty && reading.objects(Sailor.self).count == 3)
            for item in schema.classes {
                let left = try await fixture.pool.query("SELECT count(*) FROM \(item.table)")[0, 0].int64
                #expect(left == (item.name == "Sailor" ? 3 : 0), "\(item.table)")
            }
        }
    }

    private static func device(_ name: String, _ fixture: GatewayFixture) async throws -> Realm {
        let realm = try await fixture.device(name, Voyage.classes)
        let subscriptions = realm.subscriptions
        try await subscriptions.update {
            subscriptions.append(QuerySubscription<Voyage>())
            subscriptions.append(QuerySubscription<Sailor>())
            subscriptions.append(QuerySubscription<LogBook>())
        }
        return realm
    }

    private static func edit(_ realm: Realm, _ key: UUID, _ body: (Voyage) -> Void) throws {
        let voyage = try #require(realm.object(ofType: Voyage.self, forPrimaryKey: key))
        try realm.write { body(voyage) }
    }

    /// Waits until the voyage on the device has this summary.
    private static func expect(_ summary: String?, _ key: UUID, on realm: Realm) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        var found: String?
        repeat {
            try await Task.sleep(for: .milliseconds(20))
            realm.refresh()
            found = realm.object(ofType: Voyage.self, forPrimaryKey: key)?.summary
        } while found != summary && ContinuousClock.now < deadline
        #expect(found == summary)
    }
}
