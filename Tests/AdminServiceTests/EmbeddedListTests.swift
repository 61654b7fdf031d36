import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Lists of embedded objects under `/api`, and links that are added and removed one by one.
@Suite struct EmbeddedListTests {
    private struct Site: Sendable {
        let fixture: HarbourFixture
        let client: any TestClientProtocol

        func call(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil) async throws -> Answer {
            try await fixture.call(client, method, path, body)
        }

        func patch(_ id: String, _ attributes: JSON) async throws -> Answer {
            try await call(
                .patch, "/api/ships/\(id)", ["data": ["type": "ships", "id": .string(id), "attributes": attributes]])
        }

        func holds(_ id: String) async throws -> [JSON] {
            try await call(.get, "/api/ships/\(id)").json["data"]?["attributes"]?["holds"]?.list ?? []
        }

        func texts(_ sql: String) async throws -> [String] {
            try await fixture.pool.query(sql).map { try $0[0].string }
        }
    }

    /// Four sailors, and a ship whose crew list links to the first two.
    private struct Crew: Sendable {
        let ship: String
        let sailors: [ObjectId]

        init(_ site: Site) async throws {
            var sailors: [ObjectId] = []
            for name in ["Ann", "Bo", "Cy", "Di"] { sailors.append(try await site.fixture.sailor(name)) }
            ship = try await site.fixture.ship(site.client, [:], crew: Array(sailors.prefix(2)))
            self.sailors = sailors
        }

        var path: String { "/api/ships/\(ship)/relationships/crew" }

        /// A body that names sailors by their indices.
        func data(_ places: [Int]) -> JSON {
            ["data": .array(places.map { ["type": "sailors", "id": .string(sailors[$0].stringValue)] })]
        }

        /// The indices of the sailors in an answer.
        func places(_ answer: Answer) -> [Int] {
            (answer.json["data"]?.list ?? []).compactMap { item in
                sailors.firstIndex { item["id"] == .string($0.stringValue) }
            }
        }
    }

    private static func run(
        rules: (@Sendable ([String: ObjectId]) -> String)? = nil,
        _ body: @escaping @Sendable (Site) async throws -> Void
    ) async throws {
        try await HarbourFixture.with(rules: rules) { fixture in
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.authenticator)
            try await app.test(.router) { try await body(Site(fixture: fixture, client: $0)) }
        }
    }

    private static func hold(_ label: String, _ more: [String: JSON] = [:]) -> JSON {
        .object(
            ["label": .string(label), "volume": .double(1.5), "isCooled": false, "marks": []].merging(more) { $1 })
    }

    private static func with(_ element: JSON, _ more: [String: JSON?]) -> JSON {
        guard case .object(var members) = element else { return element }
        for (name, value) in more { members[name] = value }
        return .object(members)
    }

    private static func label(_ json: JSON) -> String { json["label"]?.text ?? "" }

    @Test("elements are shown as written, with their identities and everything inside them")
    func reading() async throws {
        try await Self.run { site in
            let keeper = try await site.fixture.sailor("Keeper")
            let boxes: JSON = [["content": "tea", "count": 3], ["content": "salt", "count": 1]]
            let id = try await site.fixture.ship(
                site.client,
                [
                    "holds": [
                        Self.hold(
                            "fore",
                            [
                                "spot": ["latitude": .double(53.5), "note": .null], "stamp": "AAH/",
                                "keeper": .string(keeper.stringValue), "marks": ["a", "b"], "boxes": boxes,
                            ]), Self.hold("aft"),
                    ]
                ])
            let holds = try await site.holds(id)
            #expect(holds.map(Self.label) == ["fore", "aft"])
            let (fore, aft) = (try #require(holds.first), try #require(holds.last))
            #expect(fore["volume"] == .double(1.5) && fore["isCooled"] == false && fore["stamp"] == "AAH/")
            #expect(fore["spot"] == ["latitude": .double(53.5), "note": .null] && aft["spot"] == .null)
            #expect(fore["keeper"] == .string(keeper.stringValue) && fore["marks"] == ["a", "b"])
            #expect(fore["boxes"]?.list.map { $0["content"] } == ["tea", "salt"] && aft["boxes"] == [])
            #expect(fore["id"]?.text?.utf8.count == 24 && fore["id"] != aft["id"])
            #expect(fore["_owner"] == nil && fore["owner"] == nil && fore["_rank"] == nil)
            // The version covers the elements too.
            let before = try await site.call(.get, "/api/ships/\(id)").headers[.eTag]
            #expect(try await site.patch(id, ["holds": [aft, fore]]).status == 200)
            #expect(try await site.call(.get, "/api/ships/\(id)").headers[.eTag] != before)
        }
    }

    @Test(
        "an element keeps its identity when changed, moved, or sent without its id, and only differences are written"
    )
    func identity() async throws {
        try await Self.run { site in
            let boxes: JSON = [["content": "tea", "count": 3], ["content": "salt", "count": 1]]
            let id = try await site.fixture.ship(
                site.client, ["holds": [Self.hold("a", ["boxes": boxes]), Self.hold("b"), Self.hold("c")]])
            let old = try await site.holds(id)
            let rows = "SELECT _element::text || xmin::text FROM ship_holds ORDER BY label"
            let before = try await site.texts(rows)

            // Move the last one to the front: only its rank changes.
            #expect(try await site.patch(id, ["holds": [old[2], old[0], old[1]]]).status == 200)
            #expect(try await site.holds(id).map { $0["id"] } == [old[2]["id"], old[0]["id"], old[1]["id"]])
            let moved = try await site.texts(rows)
            #expect(moved[0] == before[0] && moved[1] == before[1] && moved[2] != before[2])

            // Change one value of one element, and one of its boxes.
            let box = Self.with(try #require(old[0]["boxes"]?.list.first), ["count": 4])
            let salt = try #require(old[0]["boxes"]?.list.last)
            let boxIDs = try await site.texts(
                "SELECT _element::text || xmin::text FROM ship_holds_boxes ORDER BY content")
            let changed = Self.with(old[0], ["volume": 9, "boxes": [box, salt]])
            #expect(try await site.patch(id, ["holds": [changed, old[1]]]).status == 200)
            let now = try await site.holds(id)
            #expect(now.map { $0["id"] } == [old[0]["id"], old[1]["id"]])
            #expect(now[0]["volume"] == 9 && now[0]["boxes"]?.list.first?["count"] == 4)
            let boxesNow = try await site.texts(
                "SELECT _element::text || xmin::text FROM ship_holds_boxes ORDER BY content")
            #expect(boxesNow[0] == boxIDs[0] && boxesNow[1] != boxIDs[1], "salt stays as it is, tea is changed")
            #expect(try await site.texts(rows)[1] == moved[1])

            // Without ids, elements with the same values keep their identities.
            let plain = now.map { Self.with($0, ["id": nil]) }
            #expect(try await site.patch(id, ["holds": .array([Self.hold("new")] + plain)]).status == 200)
            let last = try await site.holds(id)
            #expect(last.map(Self.label) == ["new", "a", "b"])
            #expect(last[1]["id"] == old[0]["id"] && last[2]["id"] == old[1]["id"])

            // An id that isn't in this list makes a new element, and touches no other object's element.
            let other = try await site.fixture.ship(site.client, ["holds": [Self.hold("theirs")]])
            let theirs = try #require(try await site.holds(other).first)
            #expect(try await site.patch(id, ["holds": [Self.with(theirs, ["label": "mine"])]]).status == 200)
            #expect(try await site.holds(other) == [theirs])
            #expect(try await site.holds(id).map(Self.label) == ["mine"])
            #expect(try await site.holds(id).first?["id"] != theirs["id"])

            #expect(try await site.patch(id, ["holds": []]).status == 200)
            #expect(try await site.holds(id).isEmpty)
            #expect(try await site.texts("SELECT content FROM ship_holds_boxes").isEmpty)
            let gone = try await site.call(.delete, "/api/ships/\(other)")
            #expect(gone.status == 204, "\(gone.text)")
        }
    }

    @Test("an invalid element is refused with its place in the body, and nothing is written")
    func mistakes() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(site.client, ["holds": [Self.hold("a")]])
            let old = try await site.holds(id)
            let many = JSON.array(Array(repeating: Self.hold("x"), count: 1_001))
            for (holds, pointer) in [
                (JSON.string("x"), "/data/attributes/holds"), (.null, "/data/attributes/holds"),
                ([1], "/data/attributes/holds/0"), ([.null], "/data/attributes/holds/0"),
                ([["label": "x"]], "/data/attributes/holds/0/volume"),
                ([Self.hold("x", ["bogus": 1])], "/data/attributes/holds/0/bogus"),
                ([Self.hold("x", ["_owner": "x"])], "/data/attributes/holds/0/_owner"),
                ([Self.hold("a"), Self.hold("x", ["volume": "much"])], "/data/attributes/holds/1/volume"),
                ([Self.hold("x", ["label": .null])], "/data/attributes/holds/0/label"),
                ([Self.hold("x", ["spot": 1])], "/data/attributes/holds/0/spot"),
                (
                    [Self.hold("x", ["boxes": [["content": "x", "count": .double(1.5)]]])],
                    "/data/attributes/holds/0/boxes/0/count"
                ),
                ([Self.hold("x", ["marks": ["a", .null]])], "/data/attributes/holds/0/marks/1"),
                ([Self.hold("x", ["id": "short"])], "/data/attributes/holds/0/id"),
                ([Self.hold("x", ["id": 1])], "/data/attributes/holds/0/id"),
                ([old[0], old[0]], "/data/attributes/holds/1/id"),
                (
                    [Self.hold("x", ["keeper": .string(ObjectId.generate().stringValue)])],
                    "/data/attributes/holds/0/keeper"
                ),
                (many, "/data/attributes/holds"),
            ] {
                let answer = try await site.patch(id, ["holds": holds, "name": "Other"])
                #expect(answer.status == 422 || answer.status == 413, "\(answer.text)")
                guard answer.status == 422 else { continue }
                #expect(
                    answer.json["errors"]?.list.first?["source"]?["pointer"] == .string(pointer), "\(answer.text)")
            }
            #expect(try await site.holds(id) == old)
            #expect(try await site.texts("SELECT name FROM ship") == ["Gorch"])
        }
    }

    @Test(
        "a list that the rules hide is neither shown nor written, and changing elements takes the right to change the object"
    )
    func rules() async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { users in
            """
            version: 1
            Ship:
              - name: captain
                applyWhen: {"%%user.id": "\(users["ada"]?.stringValue ?? "")"}
                read: true
                write: true
              - name: guest
                applyWhen: {}
                read: true
                fields: {holds: {read: false, write: false}}
                additional_fields: {read: true, write: false}
            Sailor:
              - {name: everybody, applyWhen: {}, read: true, write: true}
            """
        }
        try await Self.run(rules: rules) { site in
            let id = try await site.fixture.ship(site.client, ["holds": [Self.hold("a")]])
            let seen = try await site.fixture.call(site.client, .get, "/api/ships/\(id)", as: "guest")
            #expect(seen.status == 200 && seen.json["data"]?["attributes"]?["holds"] == nil, "\(seen.text)")
            #expect(seen.json["data"]?["attributes"]?["tags"] == [])
            let body: JSON = ["data": ["type": "ships", "id": .string(id), "attributes": ["holds": []]]]
            let refused = try await site.fixture.call(site.client, .patch, "/api/ships/\(id)", body, as: "guest")
            #expect(refused.status == 403 || refused.status == 422, "\(refused.text)")
            #expect(try await site.holds(id).count == 1)
        }
    }

    @Test("lists with equal ranks, or ranks outside the usual alphabet, can be changed like any other")
    func sameRanks() async throws {
        try await Self.run { site in
            let crew = try await Crew(site)
            let (path, data) = (crew.path, crew.data)
            // Two devices that add an element at the same time give both the same rank.
            try await site.fixture.pool.execute("UPDATE ship_crew SET rank = 'a1'")
            let old = crew.places(try await site.call(.get, path))
            let between = try await site.call(.patch, path, data([old[0], 2, old[1]]))
            #expect(between.status == 200 && crew.places(between) == [old[0], 2, old[1]], "\(between.text)")
            #expect(Set(try await site.texts("SELECT rank FROM ship_crew")).count == 3)

            // Ranks like these come from plain SQL.
            try await site.fixture.pool.execute("UPDATE ship_crew SET rank = 'no. ' || rank")
            let behind = try await site.call(.post, path, data([3]))
            #expect(behind.status == 200 && crew.places(behind) == [old[0], 2, old[1], 3], "\(behind.text)")
        }
    }

    @Test("links are added and removed one by one, and hidden links stay")
    func links() async throws {
        try await Self.run { site in
            let crew = try await Crew(site)
            let (sailors, path, data) = (crew.sailors, crew.path, crew.data)
            let rows = "SELECT _id::text FROM ship_crew ORDER BY rank"
            let before = try await site.texts(rows)
            let added = try await site.call(.post, path, data([1, 2, 2]))
            #expect(added.status == 200 && crew.places(added) == [0, 1, 2], "\(added.text)")
            #expect(try await site.texts(rows).prefix(2) == before[...])
            let removed = try await site.call(.delete, path, data([0, 3]))
            #expect(removed.status == 200 && crew.places(removed) == [1, 2], "\(removed.text)")
            #expect(try await site.call(.post, path, ["data": []]).status == 200)

            let unknown: JSON = ["data": [["type": "sailors", "id": .string(ObjectId.generate().stringValue)]]]
            #expect(try await site.call(.post, path, unknown).status == 422)
            #expect(try await site.call(.post, path, ["data": .null]).status == 422)
            #expect(
                try await site.call(.post, path, ["data": [["type": "ships", "id": .string(crew.ship)]]]).status == 422)
            let stale = try await site.fixture.call(
                site.client, .post, path, data([0]), headers: [.ifMatch: "\"000000000000000000000000\""])
            #expect(stale.status == 412)

            // A link to a trashed sailor is hidden. Writing back the list as shown doesn't remove it.
            #expect(try await site.call(.delete, "/api/sailors/\(sailors[1])").status == 204)
            let whole = try await site.call(.patch, path, data([2, 3]))
            #expect(whole.status == 200 && crew.places(whole) == [2, 3], "\(whole.text)")
            #expect(try await site.texts(rows).count == 3)
            let restored = try await site.call(.post, "/admin/trash/\(sailors[1])/restore")
            if restored.status == 200 {
                #expect(crew.places(try await site.call(.get, path)).sorted() == [1, 2, 3])
            }

            let operations: JSON = [
                "atomic:operations": [
                    [
                        "op": "add", "ref": ["type": "ships", "id": .string(crew.ship), "relationship": "crew"],
                        "data": data([0])["data"] ?? .null,
                    ],
                    [
                        "op": "remove", "ref": ["type": "ships", "id": .string(crew.ship), "relationship": "crew"],
                        "data": data([3])["data"] ?? .null,
                    ],
                ]
            ]
            let atomic = try await site.fixture.call(
                site.client, .post, "/api/operations", operations,
                type: "application/vnd.api+json;ext=\"https://jsonapi.org/ext/atomic\"")
            #expect(atomic.status == 200, "\(atomic.text)")
            let after = crew.places(try await site.call(.get, path))
            #expect(after.contains(0) && !after.contains(3))
        }
    }

    @Test("a list with too many links to show is never shown as if it were complete")
    func manyLinks() async throws {
        try await Self.run { site in
            let ship = try await site.fixture.ship(site.client, [:])
            let (path, key) = ("/api/ships/\(ship)/relationships/crew", "decode(lpad(to_hex(n), 24, '0'), 'hex')")
            func addSailors(_ numbers: ClosedRange<Int>) async throws {
                try await site.fixture.pool.execute(
                    """
                    INSERT INTO sailor (_id, name)
                        SELECT \(key), 'Sailor' FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n;
                    INSERT INTO ship_crew (_id, owner, rank, target)
                        SELECT \(key), decode('\(ship)', 'hex'), 'a' || lpad(n::text, 6, '0'), \(key)
                        FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n
                    """)
            }
            try await addSailors(1...1_000)
            let whole = try await site.call(.get, path)
            #expect(whole.json["data"]?.list.count == 1_000 && whole.json["meta"] == nil)
            let listed = try await site.call(.get, "/api/ships/\(ship)/crew?page[size]=1&page[total]=true")
            #expect(listed.json["meta"] == ["page": ["total": 1_000]], "\(listed.text)")

            try await addSailors(1_001...1_001)
            let long = try await site.call(.get, path)
            #expect(long.status == 200 && long.json["data"] == nil, "\(long.text)")
            #expect(long.json["meta"] == ["isComplete": false], "\(long.text)")
            let first = try await site.call(.get, "/api/ships/\(ship)/crew?page[size]=1&page[total]=true")
            #expect(first.json["meta"] == ["isComplete": false, "page": ["total": 1_000]], "\(first.text)")
            let another = try await site.fixture.sailor("Another")
            let added = try await site.call(
                .post, path, ["data": [["type": "sailors", "id": .string(another.stringValue)]]])
            #expect(added.status == 200 && added.json["data"] == nil, "\(added.text)")
            #expect(try await site.texts("SELECT count(*)::text FROM ship_crew") == ["1002"])
        }
    }
}
