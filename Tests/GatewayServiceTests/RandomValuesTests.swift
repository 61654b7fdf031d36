import Foundation
import PostgresClient
import RandomValues
import TestSupport
import Testing
import Tombolo
import TomboloModel

/// Random values end to end: a device's file, the wire, PostgreSQL, and another device's file.
@MainActor
@Suite(.serialized)
struct RandomValuesTests {
    private static let count = 150

    @Test
    func `Random values that a device writes to new and existing objects arrive in PostgreSQL and on another device`()
        async throws
    {
        var values = RandomValues(.printed(for: "values from a device"))
        let schema = try Schema.of([Sample.self])
        let keys = (0..<Self.count).map { _ in values.value(.uuid) }
        let created = keys.map { Self.random(&values, $0, keys, schema) }
        let changed = keys.map { Self.random(&values, $0, keys, schema) }
        try await GatewayFixture.with(schema) { fixture in
            let (writing, reading) = try await (Self.device("A", fixture), Self.device("B", fixture))
            for contents in [created, changed] {
                for part in stride(from: 0, to: contents.count, by: 10) {
                    try Self.write(Array(contents[part..<min(part + 10, contents.count)]), to: writing)
                }
                // Links to objects that weren't there yet.
                try Self.link(contents, in: writing)
                try await writing.syncSession?.waitForUpload()
                try await Self.expectRows(contents, fixture)
                try await Self.expect(contents, on: reading)
                try await Self.expect(contents, on: writing)
            }
            try await fixture.app.currentUser?.logOut()
        }
    }

    @Test
    func `Random values written with plain SQL are the same on a device, and can be changed there`() async throws {
        var values = RandomValues(.printed(for: "values from PostgreSQL"))
        let schema = try Schema.of([Sample.self])
        let keys = (0..<Self.count).map { _ in values.value(.uuid) }
        let present = keys.prefix(Self.count / 2)
        let early = present.map { Self.random(&values, $0, Array(present), schema) }
        let late = keys.dropFirst(present.count).map { Self.random(&values, $0, Array(present), schema) }
        let changed = (early + late).map { Self.random(&values, $0["_id"] ?? .null, Array(present), schema) }
        try await GatewayFixture.with(schema) { fixture in
            // In the first batch, as live changes, and changed on the device.
            try await Self.insert(early, fixture)
            let device = try await Self.device("A", fixture)
            try await Self.expect(early, on: device)
            try await Self.insert(late, fixture)
            try await Self.expect(early + late, on: device)
            try Self.write(changed, to: device)
            try Self.link(changed, in: device)
            try await device.syncSession?.waitForUpload()
            try await Self.expectRows(changed, fixture)
            try await Self.expect(changed, on: device)
        }
    }

    // MARK: Devices

    private static func device(_ name: String, _ fixture: GatewayFixture) async throws -> Realm {
        let realm = try await fixture.device(name, [Sample.self])
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.append(QuerySubscription<Sample>()) }
        return realm
    }

    private static func write(_ contents: [Content], to realm: Realm) throws {
        try realm.write {
            for content in contents {
                guard case .uuid(let key)? = content["_id"] else { continue }
                let sample =
                    realm.object(ofType: Sample.self, forPrimaryKey: key)
                    ?? realm.create(Sample.self, value: ["_id": key], update: .error)
                sample.take(content)
            }
        }
    }

    private static func link(_ contents: [Content], in realm: Realm) throws {
        try realm.write {
            for content in contents {
                guard case .uuid(let key)? = content["_id"] else { continue }
                var friend: Sample?
                if case .uuid(let other)? = content["friend"] {
                    friend = realm.object(ofType: Sample.self, forPrimaryKey: other)
                }
                realm.object(ofType: Sample.self, forPrimaryKey: key)?.friend = friend
            }
        }
    }

    /// Waits until the device has the last object, and compares all of them.
    private static func expect(_ contents: [Content], on realm: Realm) async throws {
        let wanted = Dictionary(uniqueKeysWithValues: contents.map { ($0["_id"], $0) })
        let deadline = ContinuousClock.now + .seconds(240)
        var found: [Value?: Content] = [:]
        repeat {
            try await Task.sleep(for: .milliseconds(20))
            realm.refresh()
            found = Dictionary(uniqueKeysWithValues: realm.objects(Sample.self).map { (.uuid($0._id), $0.content) })
        } while found != wanted && ContinuousClock.now < deadline
        #expect(found.count == wanted.count)
        for (key, content) in wanted {
            for (name, value) in content where found[key]?[name] != value {
                Issue.record("\(name): \(found[key]?[name].map(String.init(describing:)) ?? "-") instead of \(value)")
            }
        }
    }

    // MARK: Rows

    private static func random(
        _ values: inout RandomValues, _ key: Value, _ friends: [Value], _ schema: Schema
    ) -> Content {
        Sample.random(&values, key: key, friends: friends, of: schema.classes[0], in: schema)
    }

    private static func expectRows(_ contents: [Content], _ fixture: GatewayFixture) async throws {
        for content in contents {
            let tests = try columns(content, fixture.schema).map { "\($0) IS NOT DISTINCT FROM \($1)" }
            let query = "SELECT count(*) FROM sample WHERE \(tests.joined(separator: " AND "))"
            #expect(try await fixture.pool.query(query)[0, 0].int64 == 1, "no row matches: \(query)")
        }
    }

    /// Inserts everything in one transaction, because rows may link to later ones.
    private static func insert(_ contents: [Content], _ fixture: GatewayFixture) async throws {
        try await fixture.pool.transaction { connection in
            for links in [false, true] {
                for content in contents {
                    let columns = try columns(content, fixture.schema)
                    let statement =
                        links
                        ? "UPDATE sample SET friend = \(postgresLiteral(content["friend"] ?? .null)) "
                            + "WHERE _id = \(postgresLiteral(content["_id"] ?? .null))"
                        : "INSERT INTO sample (\(columns.filter { $0.0 != #""friend""# }.map(\.0).joined(separator: ", "))) "
                            + "VALUES (\(columns.filter { $0.0 != #""friend""# }.map(\.1).joined(separator: ", ")))"
                    try await connection.execute(statement)
                }
            }
        }
    }

    nonisolated private static func columns(_ content: Content, _ schema: Schema) throws -> [(String, String)] {
        try schema.classes[0].columns.map { column in
            (PostgresSQL.quoteIdentifier(column.sqlName), postgresLiteral(try #require(content[column.name])))
        }
    }
}
