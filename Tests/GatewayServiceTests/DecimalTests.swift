import Foundation
import PostgresClient
import TestSupport
import Testing
import Tombolo
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

/// Decimals end to end: device, wire, PostgreSQL, another device, and plain SQL.
@MainActor
@Suite(.serialized)
struct DecimalTests {
    @Test
    func `Decimals reach PostgreSQL as numbers and another device with trailing zeros, and merge field by field`()
        async throws
    {
        let schema = try Schema.of([Article.self])
        try await GatewayFixture.with(schema) { fixture in
            let (writing, reading) = try await (Self.device("A", fixture), Self.device("B", fixture))
            try writing.write {
                let article = Article(value: ["_id": 1, "name": "Lamp"])
                article.price = "19.90"
                article.tiers.append(objectsIn: ["19.90", "1E+3", "-0.5"])
                article.bids.append(objectsIn: ["0.00", nil, .infinity])
                article.terms = Terms(value: ["fee": Decimal128("1.50"), "steps": [Decimal128("1.0"), .nan]])
                article.offers.append(Offer(value: [Decimal128("9.99")]))
                writing.add(article)
            }
            // PostgreSQL writes out every digit before the decimal point, so 1E+3 comes back as 1000. In `steps`, which
            // is a single column of bytes, it would come back as 1E+3.
            let written = "Lamp; 19.90; nil; [19.90 1000 -0.5]; [0.00 nil Inf]; 1.50 nil [1.0 NaN]; [9.99]"
            try await Self.expect([1: written], on: reading)
            try await Self.expect([1: written], on: writing)
            #expect(
                try await Self.text(
                    "SELECT price || ' ' || price * 2 || ' ' || terms_fee || ' ' || pg_typeof(price) FROM article",
                    fixture) == "19.90 39.80 1.50 numeric")
            #expect(
                try await Self.text(
                    "SELECT (SELECT sum(value) FROM article_tiers) || ' ' || (SELECT max(value) FROM article_bids) "
                        + "|| ' ' || (SELECT price FROM article_offers)", fixture) == "1019.40 Infinity 9.99")

            // Two devices edit one object offline: each one's fields survive.
            writing.syncSession?.suspend()
            reading.syncSession?.suspend()
            try Self.edit(writing, 1) { article in
                article.price = "18.00"
                article.discount = "0.10"
                article.tiers[0] = "18.5"
            }
            try Self.edit(reading, 1) { article in
                article.discount = "0.25"
                article.terms?.limit = "1E-6176"
                article.bids.remove(at: 1)
            }
            writing.syncSession?.resume()
            try await writing.syncSession?.waitForUpload()
            reading.syncSession?.resume()
            try await reading.syncSession?.waitForUpload()
            // Of the two edits to one field a single one survives, the same everywhere. Which of them was later, the
            // clocks can't tell here.
            let discount = try await Self.text("SELECT discount FROM article", fixture)
            #expect(["0.10", "0.25"].contains(discount))
            let merged = "Lamp; 18.00; \(discount); [18.5 1000 -0.5]; [0.00 Inf]; 1.50 1E-6176 [1.0 NaN]; [9.99]"
            try await Self.expect([1: merged], on: writing)
            try await Self.expect([1: merged], on: reading)

            // Changes made with plain SQL, which a device can change in turn.
            _ = try await fixture.pool.query("UPDATE article SET price = round(price * 1.19, 2), discount = NULL")
            _ = try await fixture.pool.query("UPDATE article_tiers SET value = value / 4 WHERE value = 1000")
            let changed =
                "Lamp; 21.42; nil; [18.5 250.0000000000000000 -0.5]; [0.00 Inf]; 1.50 1E-6176 [1.0 NaN]; [9.99]"
            try await Self.expect([1: changed], on: writing)
            try await Self.expect([1: changed], on: reading)
            try Self.edit(writing, 1) { $0.price = -$0.price }
            try await writing.syncSession?.waitForUpload()
            try await Self.expect([1: changed.replacing("21.42", with: "-21.42")], on: reading)
        }
    }

    @Test
    func `A subscription on a decimal matches the same objects as on the device, as prices change`() async throws {
        let schema = try Schema.of([Article.self])
        try await GatewayFixture.with(schema) { fixture in
            let prices = ["9.99", "10", "10.00", "1E+1", "10.01", "-5", "NaN", "Inf", "-Inf", "9.990"]
            for (key, price) in prices.enumerated() {
                _ = try await fixture.pool.query(
                    "INSERT INTO article (_id, name, price, discount) VALUES ($1, 'a', $2, nullif($2, 10))",
                    [.int64(Int64(key)), .numeric(price)])
            }
            try await fixture.waitForTick()
            let all = try await Self.device("all", fixture)
            #expect(all.objects(Article.self).count == prices.count)
            // Each condition is tried as a subscription and as a query on a device that has everything.
            let conditions: [(Query<Article>) -> Query<Bool>] = [
                { $0.price <= 10 }, { $0.price == 10 }, { $0.price > 10 }, { $0.price < 10 || $0.discount == nil },
                { $0.price >= .nan }, { $0.price < .nan }, { $0.price <= .nan },
                { $0.price.in(["1E+1", "9.990", .nan]) },
                { !($0.discount <= -5) }, { $0.price.contains(-5...9.99) },
            ]
            for (number, condition) in conditions.enumerated() {
                let some = try await fixture.device("some \(number)", [Article.self])
                let subscriptions = some.subscriptions
                try await subscriptions.update { subscriptions.append(QuerySubscription<Article> { condition($0) }) }
                let wanted = Array(all.objects(Article.self).where { condition($0) }.map(\._id)).sorted()
                #expect(Array(some.objects(Article.self).map(\._id)).sorted() == wanted, "condition \(number)")
                some.syncSession?.suspend()
            }
            // The order in which a device sorts them.
            let sorted = all.objects(Article.self).sorted(byKeyPath: "price").map { "\($0.price)" }
            #expect(sorted.first == "NaN" && sorted.last == "Inf")

            let cheap = try await fixture.device("cheap", [Article.self])
            let subscriptions = cheap.subscriptions
            try await subscriptions.update {
                subscriptions.append(QuerySubscription<Article> { $0.price <= 10 && $0.price >= 10 })
            }
            #expect(cheap.objects(Article.self).count == 3)
            _ = try await fixture.pool.query("UPDATE article SET price = price + 0.000001 WHERE _id = 1")
            _ = try await fixture.pool.query("UPDATE article SET price = 10.0, name = 'b' WHERE _id = 5")
            try await Self.expect(
                [2: "a; 10.00; nil", 3: "a; 10; nil", 5: "b; 10.0; -5"].mapValues { "\($0); []; []; -; []" }, on: cheap)
            // The device's own edit takes an object out of the subscription.
            try Self.edit(cheap, 2) { $0.price = "10.00000000000000000000000000000001" }
            try await cheap.syncSession?.waitForUpload()
            try await Self.expect(
                [3: "a; 10; nil", 5: "b; 10.0; -5"].mapValues { "\($0); []; []; -; []" }, on: cheap)
        }
    }

    @Test
    func `A permission that looks at a decimal shows, hides and refuses as the price changes`() async throws {
        let schema = try Schema.of([Article.self])
        let cheap = TomboloModel.Predicate.compare(PropertyPath("price"), .lessOrEqual, .decimal("9.9"))
        let authority = SessionAuthority(
            user: "somebody", rulesFingerprint: 1, readable: { _ in cheap },
            permit: { request in
                guard let row = request.new else { return nil }
                return cheap.matches(row, of: schema[request.classIndex]) ? nil : "too expensive"
            })
        try await GatewayFixture.with(schema, authorize: { _ in authority }) { fixture in
            _ = try await fixture.pool.query(
                "INSERT INTO article (_id, name, price) VALUES (1, 'a', 9.90), (2, 'a', 9.91), (3, 'a', 'NaN')")
            let device = try await Self.device("A", fixture)
            func summaries(_ prices: [Int: String]) -> [Int: String] {
                prices.mapValues { "a; \($0); nil; []; []; -; []" }
            }
            try await Self.expect(summaries([1: "9.90", 3: "NaN"]), on: device)
            _ = try await fixture.pool.query("UPDATE article SET price = price - 0.01 WHERE _id < 3")
            try await Self.expect(summaries([1: "9.89", 2: "9.90", 3: "NaN"]), on: device)
            try Self.edit(device, 1) { $0.price = "9.900000001" }
            try await Self.expect(summaries([1: "9.89", 2: "9.90", 3: "NaN"]), on: device)
            try Self.edit(device, 1) { $0.price = "9.9000" }
            try await device.syncSession?.waitForUpload()
            try await Self.expect(summaries([1: "9.9000", 2: "9.90", 3: "NaN"]), on: device)
            #expect(try await Self.text("SELECT price FROM article WHERE _id = 1", fixture) == "9.9000")
        }
    }

    @Test
    func `PostgreSQL numbers that no decimal can hold are refused there, or rounded on the way, and hold up nothing`()
        async throws
    {
        let schema = try Schema.of([Article.self])
        try await GatewayFixture.with(schema) { fixture in
            let device = try await Self.device("A", fixture)
            _ = try await fixture.pool.query("INSERT INTO article (_id, name) VALUES (1, 'a'), (2, 'b')")
            let beyond = ["repeat('3', 35)::numeric", "repeat('9', 100000)::numeric", "1e-7000", "1e6145"]
            for number in beyond {
                let error = await #expect(throws: PostgresError.self, "\(number)") {
                    _ = try await fixture.pool.query("UPDATE article SET price = \(number) WHERE _id = 1")
                }
                #expect(error?.constraintName == "article_price_check", "\(number)")
            }
            // A table that Tombolo didn't create has no such constraint.
            _ = try await fixture.pool.query("ALTER TABLE article DROP CONSTRAINT article_price_check")
            _ = try await fixture.pool.query("ALTER TABLE article DROP CONSTRAINT article_discount_check")
            let read = [
                "3.333333333333333333333333333333333E+34", "Inf", "0E-6176", "Inf",
            ]
            for (number, found) in zip(beyond, read) {
                _ = try await fixture.pool.query(
                    "UPDATE article SET price = \(number), discount = \(number) WHERE _id = 1")
                _ = try await fixture.pool.query("UPDATE article SET price = price + 1 WHERE _id = 2")
                let other = try await Self.text("SELECT price FROM article WHERE _id = 2", fixture)
                try await Self.expect(
                    [1: "a; \(found); \(found)", 2: "b; \(other); nil"].mapValues { "\($0); []; []; -; []" }, on: device
                )
            }
            // The device can still write to the object, even next to a number that it can't hold exactly.
            try Self.edit(device, 1) { $0.price = "1.00" }
            try await device.syncSession?.waitForUpload()
            #expect(
                try await Self.text("SELECT price || ' ' || (discount = 1e6145) FROM article WHERE _id = 1", fixture)
                    == "1.00 true")
            try await Self.expect(
                [1: "a; 1.00; Inf", 2: "b; 4; nil"].mapValues { "\($0); []; []; -; []" }, on: device)
        }
    }

    private static func device(_ name: String, _ fixture: GatewayFixture) async throws -> Realm {
        let realm = try await fixture.device(name, [Article.self])
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.append(QuerySubscription<Article>()) }
        return realm
    }

    private static func text(_ sql: String, _ fixture: GatewayFixture) async throws -> String {
        try await fixture.pool.query("SELECT (\(sql))::text")[0, 0].string
    }

    private static func edit(_ realm: Realm, _ key: Int, _ body: (Article) -> Void) throws {
        let article = try #require(realm.object(ofType: Article.self, forPrimaryKey: key))
        try realm.write { body(article) }
    }

    /// Waits until the device has these articles.
    private static func expect(
        _ summaries: [Int: String], on realm: Realm, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        var found: [Int: String] = [:]
        repeat {
            try await Task.sleep(for: .milliseconds(20))
            realm.refresh()
            found = Dictionary(uniqueKeysWithValues: realm.objects(Article.self).map { ($0._id, $0.summary) })
        } while found != summaries && ContinuousClock.now < deadline
        #expect(found == summaries, sourceLocation: location)
    }
}
