import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloModel
import TomboloRules

@Suite("An export has everything that a list with the same filters would show, and nothing else")
struct ExportTests {
    /// Deliberately hostile names; some also go into `filter[name]`.
    private static let hostile = [
        "it's", #"a "quoted" name"#, #"back\slash"#, "$1", "$1'; DROP TABLE ticket; --", "=1+1", "ümläut\n2nd, line",
        #"{"a":1},\"#, "'=guarded", "\u{1}\u{2}", "-5", "''",
        "＝1+1", "＋1", "－1", "＠sum", "\ttab", "\rreturn", "'＝1", "¬1", "−1",
    ]

    private static func objects(_ text: String) throws -> [JSON] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
    }

    @Test("each role gets the rows and fields that its lists show, in every format")
    func sameAsLists() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            for item in fixture.rules.schema.classes where item.owner == nil {
                let name = item.collectionName
                for role in ["superAdmin", "owner", "attendee", "stranger", nil] {
                    let list = try await call(.get, "/api/\(name)?page[size]=200", as: role)
                    let export = try await call(.get, "/export/\(name)?format=json", as: role)
                    let lines = try await call(.get, "/export/\(name)?format=ndjson", as: role)
                    let table = try await call(.get, "/export/\(name)", as: role)
                    #expect(export.status == list.status && table.status == list.status, "\(name) \(role ?? "")")
                    guard list.status == 200 else { continue }
                    let resources = list.json["data"]?.list ?? []
                    #expect(Set(export.json.list) == Set(try Self.objects(lines.text)))
                    #expect(export.json.list.count == resources.count, "\(name) \(role ?? "nobody")")
                    let byID = Dictionary(export.json.list.map { ($0["id"], $0) }) { first, _ in first }
                    for resource in resources {
                        guard case .object(let members)? = byID[resource["id"]] else {
                            Issue.record("\(name) \(role ?? "nobody"): \(resource["id"] ?? .null) is missing")
                            continue
                        }
                        var shown: Set<String> = ["id"]
                        for part in ["attributes", "relationships"] {
                            guard case .object(let values)? = resource[part] else { continue }
                            shown.formUnion(values.keys)
                        }
                        #expect(Set(members.keys) == shown)
                        if case .object(let attributes)? = resource["attributes"] {
                            for (key, value) in attributes { #expect(members[key] == value, "\(name).\(key)") }
                        }
                        if case .object(let links)? = resource["relationships"] {
                            for (key, value) in links {
                                let data = value["data"] ?? .null
                                let expected: JSON =
                                    if case .array(let items) = data { .array(items.map { $0["id"] ?? .null }) } else {
                                        data["id"] ?? .null
                                    }
                                #expect(members[key] == expected, "\(name).\(key)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("filters, order and fields work as in lists, and unknown ones are named")
    func parameters() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let sorted = try await call(
                .get, "/export/tickets?sort=-name&fields[tickets]=name,price&filter[name][ne]=Early", as: "owner")
            #expect(sorted.headers[.contentType] == "text/csv; charset=utf-8; header=present")
            #expect(sorted.headers[.contentDisposition] == "attachment; filename=\"tickets.csv\"")
            let rows = sorted.text.split(separator: "\n")
            #expect(rows.first == "id,name,price")
            #expect(
                rows.dropFirst().map { $0.split(separator: ",").dropFirst().joined(separator: ",") }
                    == ["Supporter,1050", "Student,1050", "Staff,1050", "Regular,1050"])
            let dates = try await call(
                .get, "/export/sessions?fields[sessions]=startsAt,speakers&sort=title", as: "owner")
            #expect(dates.text.contains("2026-05-14T09:00:00.000000Z,\"[\"\""), "\(dates.text)")
            let none = try await call(.get, "/export/tickets?format=json&filter[name]=none", as: "owner")
            #expect(none.status == 200 && none.json == [], "\(none.text)")
            for (query, status) in [
                ("format=xlsx", 400), ("page[size]=3", 400), ("include=event", 400), ("filter[nothing]=1", 400),
                ("formulas=maybe", 400), ("sort=nothing", 400),
            ] {
                let answer = try await call(.get, "/export/tickets?\(query)", as: "owner")
                #expect(answer.status == status && !answer.text.contains("\n"), "\(query): \(answer.text)")
            }
            #expect(try await call(.get, "/export/nothings", as: "owner").status == 404)
        }
    }

    @Test("no value becomes part of the SQL statement, and all text comes back unchanged")
    func hostileTexts() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            for (index, name) in Self.hostile.enumerated() {
                try await fixture.rows().insert(
                    "Ticket",
                    [
                        "event": .objectId(fixture.event), "name": .string(name), "rank": .string("z\(index)"),
                        "kind": "free", "currency": "EUR", "isPublic": .bool(true),
                    ])
            }
            for name in Self.hostile {
                let filter = RequestParameters.encode(name)
                let operators = ["", "[in]", "[contains]"]
                for query in operators.map({ "filter[name]\($0)=\($0 == "[in]" ? "none," : "")\(filter)" }) {
                    guard !name.contains(",") || !query.contains("[in]") else { continue }
                    let list = try await call(.get, "/api/tickets?\(query)", as: "owner")
                    let export = try await call(.get, "/export/tickets?format=ndjson&\(query)", as: "owner")
                    let names = try Self.objects(export.text).compactMap { $0["name"]?.text }
                    #expect(names.contains(name), "\(query): \(export.text)")
                    #expect(Set(names) == Set(JSONAPIReadingTests.attributes(list, "name")))
                }
                let table = try await call(
                    .get, "/export/tickets?fields[tickets]=name&filter[name]=\(filter)&formulas=plain", as: "owner")
                let cell =
                    name.unicodeScalars.contains(where: { "\",\n\r".unicodeScalars.contains($0) })
                    ? "\"\(name.replacing("\"", with: "\"\""))\"" : name
                #expect(table.text.hasSuffix(",\(cell)\n"), "\(table.text)")
                let guarded = try await call(
                    .get, "/export/tickets?fields[tickets]=name&filter[name]=\(filter)", as: "owner")
                let isGuarded = guarded.text.contains(",'\(name)") || guarded.text.contains(",\"'")
                let marks: [Unicode.Scalar] = ["'", "=", "-", "\t", "\r", "＝", "＋", "－", "＠"]
                #expect(isGuarded == name.unicodeScalars.first.map(marks.contains), "\(guarded.text)")
            }
            #expect(try await fixture.pool.query("SELECT count(*) FROM ticket")[0, 0].int > Self.hostile.count)
        }
    }

    @Test("it contains nothing from the trash, and no links into it")
    func trash() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            #expect(try await call(.delete, "/api/sessions/\(fixture.sessions[0])", as: "owner").status == 204)
            #expect(try await call(.delete, "/api/microlocations/\(fixture.room)", as: "owner").status == 204)
            for role in ["superAdmin", "admin", "owner"] {
                let export = try await call(.get, "/export/sessions", as: role)
                #expect(export.status == 200 && !export.text.contains(fixture.sessions[0].stringValue))
                #expect(export.text.contains(fixture.sessions[1].stringValue))
                #expect(!export.text.contains(fixture.room.stringValue))
            }
        }
    }

    @Test("an export that breaks off never looks complete")
    func breakingOff() async throws {
        try await ServiceFixture.with { fixture in
            try await fixture.pool.execute(
                """
                INSERT INTO ticket (_id, name, event, rank, kind, currency)
                    SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'n' || n, e._id, 'r' || n, 'free', 'EUR'
                    FROM generate_series(1, 20000) n, (SELECT _id FROM event LIMIT 1) e;
                CREATE FUNCTION public.break_off(name text) RETURNS boolean LANGUAGE plpgsql AS
                    $$BEGIN IF name = 'n19999' THEN RAISE 'enough'; END IF; RETURN true; END$$;
                CREATE POLICY breaking ON ticket AS RESTRICTIVE USING (public.break_off(name));
                ALTER TABLE ticket ENABLE ROW LEVEL SECURITY
                """)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.adminServer.authenticator, limits: .unhurried)
            for format in ExportFormat.allCases {
                var headers: HTTPFields = [:]
                headers[.authorization] = try await fixture.authorization("superAdmin")
                let fields = headers
                try await app.live { port in
                    try await PatientClient.with(port) { call in
                        // The export slot and the database connection are free again.
                        let before = try await call(.get, "/export/tickets?filter[name]=n5", headers: fields)
                        #expect(before.status == 200 && before.text.hasSuffix("\n"))
                        await #expect(throws: (any Error).self, "\(format)") {
                            try await call(.get, "/export/tickets?format=\(format)", headers: fields)
                        }
                    }
                }
            }
        }
    }

    @Test("the next row is read only when there is room for it, and no export keeps others waiting")
    func bounds() async throws {
        let pipe = ChunkPipe()
        let sender = Task {
            for number in 0..<100 { try await pipe.send([UInt8(number)]) }
            pipe.finish(.success(()))
        }
        var received: [UInt8] = []
        while let chunk = try await pipe.next() { received += chunk }
        #expect(received == Array(0..<100))
        try await sender.value
        let abandoned = ChunkPipe()
        let stuck = Task { while true { try await abandoned.send([1]) } }
        _ = try await abandoned.next()
        abandoned.abandon()
        await #expect(throws: CancellationError.self) { try await stuck.value }
        let waiting = Task { [pipe = ChunkPipe()] in try await pipe.next() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }

        let stalled = ChunkPipe()
        let unread = Task { while true { try await stalled.send([1]) } }
        try await stalled.abandon(afterStall: .milliseconds(5))
        await #expect(throws: CancellationError.self) { try await unread.value }

        let places = ExportPlaces()
        func holder(_ user: ObjectId?, _ address: String) -> ExportPlaces.Holder { .init(user: user, address: address) }
        let (one, other) = (ObjectId.generate(), ObjectId.generate())
        for address in ["a", "b"] { try places.take(holder(one, address)) }
        #expect(throws: RequestFailure.self) { try places.take(holder(one, "c")) }
        try places.take(holder(other, "a"))
        #expect(throws: RequestFailure.self) { try places.take(holder(nil, "c")) }
        places.giveBack(holder(one, "b"))
        // One slot stays free for other addresses.
        #expect(throws: RequestFailure.self) { try places.take(holder(nil, "a")) }
        try places.take(holder(nil, "c"))
    }
}
