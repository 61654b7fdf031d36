import AsyncHTTPClient
import ChildPrograms
import Foundation
import NIOCore
import NIOHTTP1
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import Tombolo
import TomboloHTTP
import TomboloModel

/// A class that agents maintain, and whose `cost` others may not read.
final class InspectedHome: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var town = ""
    @Persisted var price = 0
    @Persisted var cost = 0
    @Persisted var isPublic = true
}

/// A class with a trash.
final class InspectedShed: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = ""

    override class func isTrashable() -> Bool { true }
}

/// The inspector of a stock gateway, with real devices and PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct InspectorTests {
    private static let rules = """
        version: 1
        InspectedHome:
          - name: administrator
            applyWhen: {"%%user.custom_data.isAdministrator": true}
            read: true
            write: true
            operations: {inspect: true}
          - name: deputy
            applyWhen: {"%%user.custom_data.isDeputy": true}
            read: {isPublic: true}
            write: false
            operations: {inspect: true}
            fields:
              price: {read: false, write: false}
            additional_fields: {read: true, write: false}
          - name: everybody
            applyWhen: {}
            read: {isPublic: true}
            write: {isPublic: true}
            fields:
              cost: {read: false, write: false}
            additional_fields: {read: true, write: true}
        InspectedShed:
          - name: administrator
            applyWhen: {"%%user.custom_data.isAdministrator": true}
            read: true
            write: true
            operations: {inspect: true, listTrash: true}
          - name: deputy
            applyWhen: {"%%user.custom_data.isDeputy": true}
            read: true
            write: false
            operations: {inspect: true, listTrash: {name: Open}}
        """

    /// Calls the gateway's HTTP addresses.
    private struct Caller: Sendable {
        let client: HTTPClient
        let base: String

        func callAsFunction(_ path: String, token: String?) async throws -> (status: Int, json: JSON) {
            var request = HTTPClientRequest(url: base + path)
            if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
            let response = try await client.execute(request, timeout: .seconds(60))
            let bytes = try await response.body.collect(upTo: 1 << 20)
            let json = try JSONDecoder().decode(JSON.self, from: Data(bytes.readableBytesView))
            return (Int(response.status.code), json)
        }
    }

    private struct Place: Sendable {
        let server: AnyAppServer
        let call: Caller
        /// Ids by user name: `admin`, `deputy`, `ann`, `ben`.
        let users: [String: (id: String, token: String)]

        func token(_ name: String) throws -> String { try #require(users[name]).token }

        func id(_ name: String) throws -> String { try #require(users[name]).id }

        func insert(town: String, price: Int, isPublic: Bool = true) async throws -> ObjectId {
            let id = ObjectId.generate()
            try await server.pool.query(
                "INSERT INTO inspected_home (_id, town, price, cost, is_public) VALUES ($1, $2, $3, 77, $4)",
                [.bytea(id.bytes), .text(town), .int64(Int64(price)), .bool(isPublic)])
            return id
        }

        /// The answer for the only device concerned, and the codes of its reasons.
        func why(
            _ id: ObjectId, _ who: String, as name: String = "admin"
        ) async throws -> (codes: [String], device: JSON) {
            let (status, json) = try await call(
                "/inspector/why?class=InspectedHome&id=\(id.stringValue)&\(who)", token: try token(name))
            try #require(status == 200, "\(json)")
            let device = try #require(json["devices"]?.list.first, "\(json)")
            return (device["reasons"]?.list.compactMap { $0["code"]?.text } ?? [], device)
        }

        /// Asks until the answer has these reasons, because a device's actions take time.
        func expect(_ codes: [String], _ id: ObjectId, _ who: String) async throws -> JSON {
            let deadline = ContinuousClock.now + .seconds(600)
            while true {
                let found = try await why(id, who)
                if found.codes == codes { return found.device }
                guard ContinuousClock.now < deadline else {
                    throw EndToEndFailure("expected \(codes), found \(found.device)")
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// All of an answer's reasons as one text.
    private static func text(_ device: JSON) -> String {
        (device["reasons"]?.list ?? []).flatMap { reason in
            [reason["message"]?.text ?? ""] + (reason["details"]?.list.compactMap(\.text) ?? [])
        }.joined(separator: "\n")
    }

    private static func with(_ body: @MainActor (Place) async throws -> Void) async throws {
        try await AnyAppServer.with { server in
            let document = try ModelDocument(app: "inspected", objectTypes: [InspectedHome.self, InspectedShed.self])
            try await server.apply([(document, rules)])
            try await server.gateway.start()
            var users: [String: (id: String, token: String)] = [:]
            for name in ["admin", "deputy", "ann", "ben"] { users[name] = try await server.user(name) }
            for (name, data) in [("admin", "isAdministrator"), ("deputy", "isDeputy")] {
                try await server.pool.execute(
                    """
                    UPDATE tombolo.account SET custom_data = '{"\(data)": true}' WHERE email = '\(Platform.email(name))'
                    """)
            }
            let client = HTTPClient(eventLoopGroupProvider: .singleton)
            do {
                let call = Caller(client: client, base: await server.gateway.url)
                try await body(Place(server: server, call: call, users: users))
            } catch {
                try? await client.shutdown()
                throw error
            }
            try await client.shutdown()
        }
    }

    @MainActor
    private static func realm(
        _ place: Place, _ name: String, _ subscriptions: [(name: String, condition: String)]
    ) async throws -> Realm {
        let app = App(
            id: "inspected-\(name)",
            configuration: .init(
                baseURL: await place.server.gateway.url, rootDirectory: place.server.folder.appending(path: name)))
        let user = try await app.login(credentials: .accessToken(try place.token(name)))
        var configuration = user.flexibleSyncConfiguration()
        configuration.objectTypes = [InspectedHome.self]
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        let set = realm.subscriptions
        try await set.update {
            for (name, condition) in subscriptions {
                set.append(QuerySubscription<InspectedHome>(name: name, where: condition))
            }
        }
        return realm
    }

    @Test("only users whom the rules permit may inspect, and nobody without a token")
    func access() async throws {
        try await Self.with { place in
            let paths = [
                "/inspector/sessions", "/inspector/sessions/1",
                "/inspector/why?class=InspectedHome&id=\(ObjectId.generate().stringValue)&user=1",
            ]
            for path in paths {
                #expect(try await place.call(path, token: nil).status == 401)
                #expect(try await place.call(path, token: "nonsense").status == 401)
                #expect(try await place.call(path, token: try place.token("ann")).status == 403)
            }
            let admin = try place.token("admin")
            #expect(try await place.call(paths[0], token: admin).status == 200)
            #expect(try await place.call(paths[1], token: admin).status == 404)
            #expect(try await place.call(paths[2], token: admin).status == 200)
            for query in [
                "", "?class=InspectedHome", "?class=InspectdHome&id=1&user=1", "?class=InspectedHome&id=1&user=1",
                "?class=InspectedHome&id=\(ObjectId.generate().stringValue)",
                "?class=InspectedHome&id=\(ObjectId.generate().stringValue)&client=!",
                "?class=InspectedHome&id=\(ObjectId.generate().stringValue)&user=1&property=prise",
            ] {
                #expect(try await place.call("/inspector/why\(query)", token: admin).status == 400, "\(query)")
            }
            #expect(try await place.call("/inspector/sessions?state=asleep", token: admin).status == 400)
            #expect(try await place.call("/inspector/sessions?page=0", token: admin).status == 400)
        }
    }

    @Test("the list shows who is connected, with which subscriptions, and how far each device is")
    @MainActor
    func sessions() async throws {
        try await Self.with { place in
            _ = try await place.insert(town: "Dallas", price: 100)
            let ann = try await Self.realm(
                place, "ann", [("cheap", "price < 200"), ("dallas", "town == 'Dallas'")])
            defer { ann.syncSession?.suspend() }
            let admin = try place.token("admin")
            let (_, json) = try await place.call("/inspector/sessions?user=\(try place.id("ann"))", token: admin)
            #expect(json["count"]?.number == 1)
            let session = try #require(json["sessions"]?.list.first)
            let annID = try place.id("ann")
            #expect(session["user"]?.text == annID)
            #expect(session["address"]?.text == "127.0.0.1")
            #expect(["live", "reading"].contains(session["state"]?.text))
            let subscriptions = try #require(session["subscriptions"]?["first"]?.list)
            #expect(Set(subscriptions.compactMap { $0["name"]?.text }) == ["cheap", "dallas"])
            #expect(subscriptions.contains { $0["objects"]?.text == "price < 200" })
            #expect(try #require(session["position"]?["tick"]?.number) > 0)
            #expect(session["uploads"]?["unacknowledged"]?.number == 0)

            let number = try #require(session["id"]?.text)
            let one = try await place.call("/inspector/sessions/\(number)", token: admin).json
            #expect(one["session"]?["client"] == session["client"] && one["gateway"] == json["gateway"])
            let client = try #require(session["client"]?.text)
            for (query, count) in [
                ("client=\(client)", 1), ("user=\(try place.id("ben"))", 0), ("client=1", 0), ("state=waiting", 0),
                ("page=2", 0),
            ] {
                let (status, found) = try await place.call("/inspector/sessions?\(query)", token: admin)
                #expect(status == 200 && found["sessions"]?.list.count == count, "\(query) \(found)")
            }

            // A deputy may not read prices, so subscriptions on prices aren't shown.
            let (_, deputys) = try await place.call("/inspector/sessions", token: try place.token("deputy"))
            let shown = deputys["sessions"]?.list.first?["subscriptions"]?["first"]?.list ?? []
            #expect(shown.contains { $0["objects"]?.text == "town == \"Dallas\"" }, "\(deputys)")
            #expect(!"\(deputys)".contains("price < 200"))
        }
    }

    @Test("why a device has an object or lacks it: each reason, from the actual rows, rules and subscriptions")
    @MainActor
    func reasons() async throws {
        try await Self.with { place in
            let matching = try await place.insert(town: "Dallas", price: 100)
            let expensive = try await place.insert(town: "Dallas", price: 900)
            let secret = try await place.insert(town: "Dallas", price: 100, isPublic: false)
            let realm = try await Self.realm(place, "ann", [("cheap", "price < 200")])
            #expect(realm.objects(InspectedHome.self).map(\._id) == [matching])
            let ann = "user=\(try place.id("ann"))"

            let delivered = try await place.expect(["delivered"], matching, ann)
            #expect(delivered["isVisible"] == .bool(true))
            let missed = try await place.expect(["no_subscription_matches"], expensive, ann)
            #expect(Self.text(missed).contains("'cheap' requires price < 200, but price is 900"), "\(missed)")
            let denied = try await place.expect(["not_readable"], secret, ann)
            #expect(Self.text(denied).contains("role 'everybody'"), "\(denied)")
            #expect(Self.text(denied).contains("isPublic == true, but isPublic is false"), "\(denied)")
            _ = try await place.expect(["no_object"], .generate(), ann)

            // A property that the rules hide, of an object that the device has.
            let hidden = try await place.expect(["property_hidden"], matching, "\(ann)&property=cost")
            #expect(hidden["isVisible"] == .bool(true))
            _ = try await place.expect(["delivered"], matching, "\(ann)&property=price")

            // By the device's id instead of the user's.
            let client = try #require(delivered["client"]?.text)
            _ = try await place.expect(["delivered"], matching, "client=\(client)")

            // After a change of the row, and after a change of the subscriptions.
            try await place.server.pool.query(
                "UPDATE inspected_home SET price = 150 WHERE _id = $1", [.bytea(expensive.bytes)])
            _ = try await place.expect(["delivered"], expensive, ann)
            let set = realm.subscriptions
            try await set.update { set.removeAll() }
            _ = try await place.expect(["not_subscribed"], matching, ann)

            // Users who aren't connected: one who never was, and one who no longer is.
            let ben = try await place.why(matching, "user=\(try place.id("ben"))")
            #expect(ben.codes == ["not_connected_here"] && ben.device["isConnectedHere"] == .bool(false))
            let benAndSecret = try await place.why(secret, "user=\(try place.id("ben"))")
            #expect(benAndSecret.codes == ["not_readable", "not_connected_here"])
            realm.syncSession?.suspend()
            let annID = try place.id("ann")
            let gone = try await place.expect(["not_connected_here"], matching, "client=\(client)")
            #expect(gone["lastSeen"]?.text != nil && gone["user"]?.text == annID)
            let nobody = try await place.why(matching, "user=\(ObjectId.generate().stringValue)")
            #expect(nobody.codes == ["no_user", "not_connected_here"])
        }
    }

    @Test("objects in the trash don't exist for callers who may inspect but not list the trash")
    func trash() async throws {
        try await Self.with { place in
            var sheds: [String: ObjectId] = ["None": .generate()]
            for name in ["Open", "Closed"] {
                let id = ObjectId.generate()
                try await place.server.pool.query(
                    "INSERT INTO inspected_shed (_id, name) VALUES ($1, $2)", [.bytea(id.bytes), .text(name)])
                sheds[name] = id
            }
            let ann = try place.id("ann")
            @Sendable func devices(_ id: ObjectId, as name: String) async throws -> JSON {
                let (status, json) = try await place.call(
                    "/inspector/why?class=InspectedShed&id=\(id.stringValue)&user=\(ann)", token: try place.token(name))
                try #require(status == 200, "\(json)")
                return try #require(json["devices"])
            }
            func code(_ name: String, as user: String) async throws -> String? {
                let id = try #require(sheds[name])
                return try await devices(id, as: user).list.first?["reasons"]?.list.first?["code"]?.text
            }
            for user in ["admin", "deputy"] {
                #expect(try await code("None", as: user) == "no_object")
                #expect(try await code("Closed", as: user) == "not_readable")
            }
            try await place.server.pool.execute("UPDATE inspected_shed SET trashed_at = now()")
            for name in ["Open", "Closed"] { #expect(try await code(name, as: "admin") == "in_trash") }
            #expect(try await code("Open", as: "deputy") == "in_trash")
            let (closed, none) = (try #require(sheds["Closed"]), try #require(sheds["None"]))
            #expect(try await devices(closed, as: "deputy") == devices(none, as: "deputy"))
        }
    }

    @Test("'tombolo inspect' lists sessions, shows one and explains a device's objects, as text and as JSON")
    @MainActor
    func command() async throws {
        try await Self.with { place in
            _ = try await place.insert(town: "Dallas", price: 100)
            let expensive = try await place.insert(town: "Dallas", price: 900)
            let realm = try await Self.realm(place, "ann", [("cheap", "price < 200")])
            defer { realm.syncSession?.suspend() }
            let (annID, gateway) = (try place.id("ann"), await place.server.gateway.url)
            _ = try await place.expect(["no_subscription_matches"], expensive, "user=\(annID)")

            func run(
                _ arguments: [String], environment: [String: String]? = nil, input: String = "", json: Bool = false
            ) async throws -> ProgramRun.Outcome {
                var variables = ["TOMBOLO_GATEWAY_URL": gateway, "TOMBOLO_TOKEN": "", "TOMBOLO_API_KEY": ""]
                variables.merge(try environment ?? ["TOMBOLO_TOKEN": place.token("admin")]) { $1 }
                return try await BuiltProgram("tombolo", "TomboloDevelopment").run(
                    ["inspect"] + arguments + (json ? ["--json"] : []), environment: variables, input: input)
            }

            let list = try await run(["sessions", "--user", annID])
            #expect(list.status == 0, "\(list.messages)")
            let row = try #require(list.lines.last?.split(separator: " ").map(String.init))
            #expect(list.output.contains("1 session\n") && list.output.contains("SESSION  STATE"), "\(list.output)")
            #expect(row.contains(annID) && row.contains("127.0.0.1"), "\(list.output)")
            #expect(list.output.contains("1: 'cheap': InspectedHome, price < 200"), "\(list.output)")
            #expect(try await run([]).output.contains(annID))
            let none = try await run(["sessions", "--user", try place.id("ben")])
            #expect(none.status == 0 && none.output.contains(": 0 sessions"), "\(none.output)")

            let one = try await run(["session", row[0]])
            #expect(one.status == 0 && one.output.contains("'cheap': InspectedHome, price < 200"), "\(one.output)")

            let question = ["why", "InspectedHome", expensive.stringValue, "--user", annID]
            let why = try await run(question)
            #expect(why.status == 0, "\(why.messages)")
            #expect(
                why.output.contains(
                    """
                      no_subscription_matches: None of the device's subscriptions to InspectedHome matches the object (1 checked).
                        The subscription 'cheap' requires price < 200, but price is 900
                    """), "\(why.output)")
            let json = try JSONDecoder().decode(JSON.self, from: Data(try await run(question, json: true).output.utf8))
            let asked = try await place.call(
                "/inspector/why?class=InspectedHome&id=\(expensive.stringValue)&user=\(annID)",
                token: try place.token("admin"))
            #expect(json["devices"]?.list.first?["reasons"] == asked.json["devices"]?.list.first?["reasons"])
            #expect(json["devices"]?.list.count == 1)

            // The command logs itself in and out again.
            let email = Platform.email("admin")
            let logins = "SELECT count(*) FROM tombolo.login_session WHERE revoked_at IS NULL"
            let before = try await place.server.pool.query(logins)[0, 0].int
            let byPassword = try await run(["--email", email], environment: [:], input: Platform.password + "\n")
            #expect(byPassword.status == 0 && byPassword.output.contains(annID), "\(byPassword.messages)")
            #expect(try await place.server.pool.query(logins)[0, 0].int == before)

            let annToken = try place.token("ann")
            let failures: [([String], [String: String]?, String, [String])] = [
                ([], [:], "", ["Nobody is logged in", "--email", "TOMBOLO_TOKEN"]),
                (["--email", email], [:], "wrong\n", ["Check the address and the password"]),
                ([], ["TOMBOLO_TOKEN": "nonsense"], "", ["access token is invalid"]),
                ([], ["TOMBOLO_TOKEN": annToken], "", ["operations: {inspect: true}", "docs/rules.md"]),
                (["session", "999999"], nil, "", ["has no session", "'tombolo inspect sessions' lists them"]),
                (["why", "InspectdHome", "1", "--user", "1"], nil, "", ["Did you mean InspectedHome?"]),
                (["why", "InspectedHome", "1", "--user", "1"], nil, "", ["isn't a valid key"]),
                (["why", "InspectedHome", "1"], nil, "", ["--user ID or --client DEVICE"]),
                (["--gateway", "http://127.0.0.1:1"], nil, "", ["Can't reach the gateway", "refused", "/health"]),
                (["--gateway", "http://gateway.invalid"], nil, "", ["isn't encrypted", "Can't reach the gateway"]),
                (["--gateway", "ftp://127.0.0.1"], nil, "", ["not a gateway's address", "http://HOST:PORT"]),
            ]
            for (arguments, environment, input, expected) in failures {
                let outcome = try await run(arguments, environment: environment, input: input)
                #expect(outcome.status != 0 && outcome.output.isEmpty, "\(arguments)")
                for text in expected { #expect(outcome.messages.contains(text), "\(arguments): \(outcome.messages)") }
            }
        }
    }

    @Test("no answer contains values that the caller may not read")
    @MainActor
    func secrets() async throws {
        try await Self.with { place in
            let expensive = try await place.insert(town: "Dallas", price: 987_654)
            let secret = try await place.insert(town: "Dallas", price: 987_654, isPublic: false)
            let realm = try await Self.realm(place, "ann", [("cheap", "price < 200")])
            let ann = "user=\(try place.id("ann"))"
            let shown = try await place.expect(["no_subscription_matches"], expensive, ann)
            #expect("\(shown)".contains("987654"))
            for id in [expensive, secret] {
                let concealed = try await place.why(id, ann, as: "deputy")
                #expect(!concealed.codes.isEmpty && concealed.codes.first != "delivered")
                #expect(!"\(concealed.device)".contains("987654"), "\(concealed.device)")
                #expect(!"\(concealed.device)".contains("price <"), "\(concealed.device)")
            }
            realm.syncSession?.suspend()
        }
    }
}
