import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// What can and can't be read under `/api`.
@Suite struct JSONAPIReadingTests {
    static func run(
        rules document: String? = nil, _ body: @escaping @Sendable (ServiceFixture, Caller) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let rules =
                try document.map {
                    try Rules(schema: fixture.rules.schema, book: try RuleBook(parsing: $0, file: "test.yaml"))
                } ?? fixture.rules
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(rules),
                authenticator: fixture.adminServer.authenticator)
            try await app.test(.router) { try await body(fixture, Caller($0, fixture)) }
        }
    }

    static func attributes(_ answer: Answer, _ name: String) -> [String] {
        (answer.json["data"]?.list ?? []).compactMap { $0["attributes"]?[name]?.text }
    }

    static func problem(_ answer: Answer) -> JSON { answer.json["errors"]?.list.first ?? .null }

    @Test("A page that is too large is refused with what to do, and a smaller one is served")
    func largePage() async throws {
        try await Self.run { fixture, call in
            try await fixture.pool.query(
                "UPDATE session SET long_abstract = repeat('x', 4000000) WHERE _id = ANY ($1)",
                [.byteaArray(fixture.sessions.map(\.bytes))])
            let page = try await call(.get, "/api/sessions", as: "owner")
            #expect(page.status == 422, "\(page.text.count)")
            #expect(page.text.contains("page[size]"), "\(page.text.prefix(500))")
            for query in ["page%5Bsize%5D=1", "fields%5Bsessions%5D=title"] {
                #expect(try await call(.get, "/api/sessions?\(query)", as: "owner").status == 200, "\(query)")
            }
            #expect(try await call(.get, "/api/sessions/\(fixture.sessions[0])", as: "owner").status == 200)
        }
    }

    @Test("A list contains the objects that its caller may read, as resource objects")
    func lists() async throws {
        try await Self.run { fixture, call in
            let list = try await call(.get, "/api/sessions?sort=title", as: "attendee")
            #expect(list.status == 200, "\(list.text)")
            #expect(list.headers[.contentType] == "application/vnd.api+json")
            #expect(Self.attributes(list, "title") == ["Talk 1", "Talk 2"])
            let first = try #require(list.json["data"]?.list.first)
            let id = fixture.sessions[0].stringValue
            #expect(first["type"] == "sessions" && first["id"] == .string(id))
            #expect(first["attributes"]?["startsAt"] == "2026-05-14T09:00:00.000000Z")
            #expect(first["attributes"]?["_id"] == nil && first["attributes"]?["event"] == nil)
            #expect(first["attributes"]?["subtitle"] == .null)
            let event = try #require(first["relationships"]?["event"])
            #expect(event["data"] == ["type": "events", "id": .string(fixture.event.stringValue)])
            #expect(event["links"]?["self"] == .string("/api/sessions/\(id)/relationships/event"))
            #expect(event["links"]?["related"] == .string("/api/sessions/\(id)/event"))
            #expect(
                first["relationships"]?["speakers"]?["data"]?.list.compactMap { $0["id"]?.text }
                    == fixture.speakers.map(\.stringValue))
            #expect(first["links"]?["self"] == .string("/api/sessions/\(id)"))

            let owner = try await call(.get, "/api/sessions?sort=-title", as: "owner")
            #expect(Self.attributes(owner, "title") == ["Talk 3", "Talk 2", "Talk 1"])
            let stranger = try await call(.get, "/api/sessions?sort=title", as: "stranger")
            #expect(Self.attributes(stranger, "title") == ["Secret talk", "Talk 1", "Talk 2"])
            let nobody = try await call(.get, "/api/tickets?sort=rank")
            #expect(Self.attributes(nobody, "name") == ["Early", "Regular", "Student", "Supporter"])
        }
    }

    @Test("Every class of the model can be listed and read, and every link in the answers works")
    func everyLink() async throws {
        try await Self.run { fixture, call in
            for item in fixture.rules.schema.classes where item.owner == nil {
                let list = try await call(.get, "/api/\(item.collectionName)?page[total]=true", as: "superAdmin")
                #expect(list.status == 200, "\(item.name): \(list.text)")
                let resources = list.json["data"]?.list ?? []
                #expect(list.json["meta"]?["page"]?["total"] == .int(Int64(resources.count)))
                for resource in resources.prefix(3) {
                    var links = [resource["links"]?["self"]?.text]
                    if case .object(let relationships) = resource["relationships"] {
                        links += relationships.values.flatMap {
                            [$0["links"]?["self"]?.text, $0["links"]?["related"]?.text]
                        }
                    }
                    for link in links {
                        let answer = try await call(.get, try #require(link), as: "superAdmin")
                        #expect(answer.status == 200, "\(link ?? ""): \(answer.text)")
                    }
                    let single = try await call(.get, links[0] ?? "", as: "superAdmin")
                    #expect(single.json["data"] == resource)
                }
            }
        }
    }

    @Test("Pages by cursor and by number contain every row once, in any order, ascending and descending, with nulls")
    func pages() async throws {
        try await Self.run { fixture, call in
            let rows = fixture.rows()
            for number in 0..<40 {
                try await rows.insert(
                    "Session",
                    [
                        "event": .objectId(fixture.event), "title": .string("Talk \(number % 7)"), "state": "accepted",
                        "level": number % 3 == 0 ? .null : .string("level \(number % 4)"),
                        "startsAt": number % 5 == 0 ? .null : .date(1_778_749_200_000_000 + Int64(number % 6)),
                    ])
            }
            for sort in [
                "", "title", "-title", "level", "-level", "startsAt,-level", "-startsAt,title", "-level,startsAt,id",
                "id", "-id",
            ] {
                let order = sort.isEmpty ? "" : "&sort=\(sort)"
                let all = try await call(.get, "/api/sessions?page[size]=200&page[total]=true\(order)", as: "owner")
                let expected = (all.json["data"]?.list ?? []).compactMap { $0["id"]?.text }
                #expect(expected.count == 43 && all.json["meta"]?["page"]?["total"] == 43, "\(sort): \(all.text)")
                #expect(all.json["links"]?["next"] == .null)
                for start in ["page[size]=7", "page[size]=7&page[number]=1"] {
                    var found: [String] = []
                    var next: String? = "/api/sessions?\(start)\(order)"
                    while let address = next {
                        let page = try await call(.get, address, as: "owner")
                        #expect(page.status == 200, "\(address): \(page.text)")
                        found += (page.json["data"]?.list ?? []).compactMap { $0["id"]?.text }
                        next = page.json["links"]?["next"]?.text
                        if page.status != 200 { break }
                    }
                    #expect(found == expected, "\(sort) \(start)")
                }
            }
            let last = try await call(.get, "/api/sessions?page[size]=10&page[number]=5&page[total]=true", as: "owner")
            #expect(last.json["data"]?.list.count == 3)
            #expect(last.json["links"]?["next"] == .null)
            #expect(last.json["links"]?["last"]?.text?.contains("page%5Bnumber%5D=5") == true)
        }
    }

    @Test(
        "Pages sorted by text too long for an address contain every row once",
        arguments: ["title", "-title", "level,-title", "-level,id"])
    func pagesOfLongTexts(sort: String) async throws {
        try await Self.run { fixture, call in
            let rows = fixture.rows()
            // Rows with short text come first, in the middle and last.
            for number in 0..<20 {
                let length = number / 4 % 2 == 1 ? 5_000 : 1
                let text = String(repeating: String(Character(Unicode.Scalar(UInt8(97 + number)))), count: length)
                try await rows.insert(
                    "Session",
                    [
                        "event": .objectId(fixture.event), "title": .string(text), "state": "accepted",
                        "level": number % 3 == 0 ? .null : .string(String(text.reversed()) + "x"),
                    ])
            }
            let all = try await call(
                .get, "/api/sessions?page[size]=200&fields[sessions]=state&sort=\(sort)", as: "owner")
            let expected = (all.json["data"]?.list ?? []).compactMap { $0["id"]?.text }
            #expect(expected.count == 23, "\(all.text.prefix(500))")
            for size in [1, 3, 5] {
                var found: [String] = []
                var next: String? = "/api/sessions?page[size]=\(size)&fields[sessions]=state&sort=\(sort)"
                while let address = next, found.count < 100 {
                    let page = try await call(.get, address, as: "owner")
                    #expect(page.status == 200, "\(address.prefix(200)): \(page.text.prefix(500))")
                    found += (page.json["data"]?.list ?? []).compactMap { $0["id"]?.text }
                    next = page.json["links"]?["next"]?.text
                    #expect((next ?? "").utf8.count < 8_192)
                    if page.status != 200 { break }
                }
                #expect(found == expected, "\(sort) \(size)")
            }
        }
    }

    @Test(
        "Filters compare typed values",
        arguments: [
            ("filter[title]=Talk%201", ["Talk 1"]), ("filter[title][ne]=Talk%201", ["Talk 2", "Talk 3"]),
            ("filter[title][in]=Talk%201,Talk%203", ["Talk 1", "Talk 3"]),
            ("filter[title][gt]=Talk+1", ["Talk 2", "Talk 3"]),
            ("filter[title][contains]=k%202", ["Talk 2"]),
            ("filter[title][startsWith]=Talk", ["Talk 1", "Talk 2", "Talk 3"]),
            ("filter[startsAt][ge]=2026-05-14T10:00:00Z", ["Talk 2", "Talk 3"]),
            ("filter[startsAt][lt]=2026-05-14T12:00:00%2B02:00", ["Talk 1"]), ("filter[startsAt][gt]=2026-05-15", []),
            ("filter[subtitle][isNull]=true", ["Talk 1", "Talk 2", "Talk 3"]), ("filter[subtitle][isNull]=false", []),
            ("filter[isPublic]=true&filter[state]=pending", ["Talk 3"]),
            ("filter[title]=", []), ("filter[track][isNull]=true", ["Talk 1", "Talk 2", "Talk 3"]),
        ] as [(String, [String])])
    func filters(query: String, expected: [String]) async throws {
        try await Self.run { _, call in
            let answer = try await call(.get, "/api/sessions?sort=title&\(query)", as: "owner")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(Self.attributes(answer, "title") == expected)
        }
    }

    @Test("Filters work on ids, links and numbers")
    func moreFilters() async throws {
        try await Self.run { fixture, call in
            let byEvent = try await call(.get, "/api/sessions?filter[event]=\(fixture.draft)", as: "stranger")
            #expect(Self.attributes(byEvent, "title") == ["Secret talk"])
            let ids = "\(fixture.sessions[2]),\(fixture.sessions[0]),\(fixture.draftSession)"
            let byID = try await call(.get, "/api/sessions?sort=title&filter[id][in]=\(ids)", as: "owner")
            #expect(Self.attributes(byID, "title") == ["Talk 1", "Talk 3"])
            for (query, count) in [("ge]=1050", 5), ("gt]=1050", 0), ("lt]=1051", 5), ("le]=-1", 0), ("in]=1,1050", 5)]
            {
                let answer = try await call(.get, "/api/tickets?filter[price][\(query)", as: "owner")
                #expect(answer.json["data"]?.list.count == count, "\(query): \(answer.text)")
            }
        }
    }

    @Test("Includes contain what the caller may read, each resource once, and sparse fields leave out the rest")
    func includes() async throws {
        try await Self.run { fixture, call in
            let answer = try await call(
                .get, "/api/sessions?include=event,speakers.event,room&fields[events]=name&fields[speakers]=name,event",
                as: "attendee")
            #expect(answer.status == 200, "\(answer.text)")
            let included = answer.json["included"]?.list ?? []
            let types = included.compactMap { $0["type"]?.text }.sorted()
            #expect(types == ["events", "microlocations", "speakers", "speakers"])
            let event = try #require(included.first { $0["type"] == "events" })
            #expect(event["attributes"] == ["name": "Island Days"] && event["relationships"] == nil)
            #expect(event["meta"] == nil, "a partial resource's version would be mistaken for the whole one's")
            let empty = try await call(.get, "/api/sessions?fields[sessions]=", as: "attendee")
            #expect(empty.json["data"]?.list.first?["attributes"] == nil)

            // Nobody sees another event's objects, even through a link made before the database kept links within events.
            try await fixture.pool.execute("ALTER TABLE session DISABLE TRIGGER tombolo_within_event")
            let secret = try await fixture.rows().insert(
                "Track", ["event": .objectId(fixture.draft), "name": "Hidden"])
            try await fixture.rows().set("Session", fixture.sessions[0], "track", .objectId(secret))
            let one = try await call(.get, "/api/sessions/\(fixture.sessions[0])?include=track", as: "attendee")
            #expect(one.status == 200 && one.json["included"] == [], "\(one.text)")
            let related = try await call(.get, "/api/sessions/\(fixture.sessions[0])/track", as: "attendee")
            #expect(related.status == 200 && related.json["data"] == .null, "\(related.text)")
            #expect(!one.text.contains("Hidden") && !related.text.contains("Hidden"))
        }
    }

    @Test("Relationships have linkage in list order, and their resources can be searched")
    func relationships() async throws {
        try await Self.run { fixture, call in
            let session = "/api/sessions/\(fixture.sessions[0])"
            let linkage = try await call(.get, "\(session)/relationships/speakers", as: "attendee")
            #expect(linkage.json["data"]?.list.compactMap { $0["id"]?.text } == fixture.speakers.map(\.stringValue))
            let one = try await call(.get, "\(session)/relationships/room", as: "attendee")
            #expect(one.json["data"]?["id"]?.text == fixture.room.stringValue)
            let speakers = try await call(.get, "\(session)/speakers?filter[name]=Grace", as: "attendee")
            #expect(Self.attributes(speakers, "name") == ["Grace"])
            for path in ["\(session)/nothing", "\(session)/relationships/title", "\(session)/title"] {
                let answer = try await call(.get, path, as: "attendee")
                #expect(answer.status == 404 && Self.problem(answer)["status"] == "404", "\(path): \(answer.text)")
            }
            // Talk 3 is pending.
            for path in ["", "/speakers", "/relationships/speakers", "/event"] {
                let hidden = try await call(.get, "/api/sessions/\(fixture.sessions[2])\(path)", as: "attendee")
                #expect(hidden.status == 404, "\(path): \(hidden.text)")
            }
        }
    }

    @Test("A resource that hasn't changed since the caller's version isn't sent again")
    func versions() async throws {
        try await Self.run { fixture, call in
            let path = "/api/sessions/\(fixture.sessions[0])"
            for address in [path, "/api/sessions", "\(path)?include=event", "\(path)/relationships/event"] {
                let first = try await call(.get, address, as: "owner")
                let tag = try #require(first.headers[.eTag])
                #expect(first.headers[.cacheControl] == "private, no-cache")
                for header in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                    let again = try await call(.get, address, as: "owner", headers: [.ifNoneMatch: header])
                    #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag, "\(header)")
                }
                let other = try await call(.get, address, as: "owner", headers: [.ifNoneMatch: "\"x\""])
                #expect(other.status == 200)
            }
            let before = try await call(.get, path, as: "owner")
            #expect(before.headers[.eTag] == before.json["data"]?["meta"]?["version"]?.text.map { "\"\($0)\"" })
            try await fixture.rows().set("Session", fixture.sessions[0], "title", "Talk 1, again")
            let after = try await call(.get, path, as: "owner")
            #expect(before.headers[.eTag] != after.headers[.eTag])
        }
    }

    @Test("Trashed objects are in no list, count, inclusion or linkage, whatever the query")
    func trash() async throws {
        try await Self.run { fixture, call in
            let (session, event) = (fixture.sessions[0], fixture.event)
            for path in ["sessions/\(session)", "events/\(fixture.draft)"] {
                let gone = try await call(.post, "/admin/\(path)/trash", as: "admin")
                #expect(gone.status == 200, "\(gone.text)")
            }
            for role in ["superAdmin", "admin", "owner", "stranger", "attendee"] {
                for query in [
                    "", "&filter[id]=\(session)", "&filter[title]=Talk%201", "&include=event", "&filter[isPublic]=true",
                ] {
                    let list = try await call(.get, "/api/sessions?page[total]=true\(query)", as: role)
                    #expect(list.status == 200, "\(role) \(query): \(list.text)")
                    let shown = list.text.replacing("=\(session)", with: "").replacing("%5D=\(session)", with: "")
                    #expect(!shown.contains(session.stringValue), "\(role) \(query)")
                    #expect(!shown.contains("Secret Days") && !shown.contains(fixture.draft.stringValue))
                    #expect(
                        list.json["meta"]?["page"]?["total"] == .int(Int64(list.json["data"]?.list.count ?? -1)))
                }
                for path in ["", "/event", "/relationships/speakers"] {
                    let answer = try await call(.get, "/api/sessions/\(session)\(path)", as: role)
                    #expect(answer.status == 404, "\(role) \(path)")
                }
                for parameter in [
                    "get_trashed=true", "trashed=true", "filter[trashed_at][isNull]=false", "sort=trashed_at",
                ] {
                    let answer = try await call(.get, "/api/sessions?\(parameter)", as: role)
                    #expect(answer.status == 400, "\(role) \(parameter)")
                }
            }
            #expect(try await call(.get, "/api/events/\(event)", as: "attendee").status == 200)
        }
    }

    @Test("Filters treat links into the trash as null, just as answers show them")
    func linksIntoTheTrash() async throws {
        try await Self.run { fixture, call in
            let rows = fixture.rows()
            let gone = try await rows.insert(
                "Track", ["event": .objectId(fixture.event), "name": "Gone", "color": "#000000"])
            let track = try await rows.insert(
                "Track", ["event": .objectId(fixture.event), "name": "Here", "color": "#000000"])
            for (title, link) in [("A", Value.objectId(gone)), ("B", .objectId(track)), ("C", .null)] {
                try await rows.insert(
                    "Session",
                    [
                        "event": .objectId(fixture.event), "title": .string("Linked \(title)"), "state": "accepted",
                        "track": link,
                    ])
            }
            let deletion = try await call(.delete, "/api/tracks/\(gone)", as: "owner")
            #expect(deletion.status == 204, "\(deletion.text)")
            let expected = [
                "[isNull]=true": ["Linked A", "Linked C"], "[isNull]=false": ["Linked B"], "=\(gone)": [],
                "[in]=\(gone),\(track)": ["Linked B"], "[ne]=\(track)": ["Linked A", "Linked C"],
                "[ne]=\(gone)": ["Linked A", "Linked B", "Linked C"],
            ]
            for (filter, titles) in expected {
                let path = "filter[track]\(filter)&filter[title][startsWith]=Linked&sort=title"
                let list = try await call(.get, "/api/sessions?page[total]=true&\(path)", as: "owner")
                #expect(Self.attributes(list, "title") == titles, "\(filter): \(list.text)")
                #expect(list.json["meta"]?["page"]?["total"] == .int(Int64(titles.count)), "\(filter)")
                let address = "/export/sessions?format=csv&fields[sessions]=title&\(path)"
                let file = try await call(.get, address, as: "owner")
                #expect(file.text.ranges(of: "Linked").count == titles.count, "\(filter): \(file.text)")
            }
        }
    }

    @Test("A hidden property is refused like one that doesn't exist, and isn't shown")
    func hiddenProperties() async throws {
        let rules = """
            version: 1
            rules:
              Session:
                - name: reader
                  applyWhen: {}
                  read: true
                  write: false
                  fields:
                    title: {read: true, write: false}
                    event: {read: true, write: false}
                  additional_fields: {read: false, write: false}
            """
        try await Self.run(rules: rules) { _, call in
            let list = try await call(.get, "/api/sessions?sort=title", as: "attendee")
            #expect(list.status == 200, "\(list.text)")
            let resource = try #require(list.json["data"]?.list.first)
            #expect(resource["attributes"] == ["title": "Secret talk"])
            if case .object(let relationships) = resource["relationships"] {
                #expect(relationships.keys.sorted() == ["event"])
            }
            for (hidden, unknown) in [
                ("filter[state]=x", "filter[stage]=x"), ("sort=state", "sort=stage"), ("include=room", "include=rood"),
                ("filter[speakers]=x", "filter[speakerz]=x"), ("fields[sessions]=state", "fields[sessions]=stage"),
                ("filter[room]=x", "filter[rood]=x"), ("include=speakers", "include=speakerz"),
            ] {
                let first = try await call(.get, "/api/sessions?\(hidden)", as: "attendee")
                let second = try await call(.get, "/api/sessions?\(unknown)", as: "attendee")
                #expect(first.status == 400 && second.status == 400, "\(first.text) \(second.text)")
                let replaced = first.text.replacing("state", with: "stage").replacing("room", with: "rood")
                    .replacing("speakers", with: "speakerz")
                func comparable(_ text: String) -> String { text.replacing(/"id":"[^"]*"/, with: "") }
                #expect(comparable(replaced) == comparable(second.text))
            }
        }
    }

    @Test(
        "Invalid requests are refused with the reason and what to do",
        arguments: [
            ("page[size]=0", "page[size]"), ("page[size]=1000000000", "page[size]"), ("page[size]=x", "page[size]"),
            ("page[number]=-1", "page[number]"), ("page[number]=99999&page[size]=200", "page[number]"),
            ("page[after]=x", "page[after]"), ("page[after]=%00", "page[after]"), ("page[after]=W10", "page[after]"),
            ("page[after]=eA&page[number]=2", "page[after]"), ("page[total]=yes", "page[total]"),
            ("page[what]=1", "page[what]"), ("page=1", "page"), ("sort=", "sort"), ("sort=nothing", "sort"),
            ("sort=event", "sort"), ("sort=speakers", "sort"), ("sort=title,title", "sort"),
            ("sort=title,title,title,title,title,title", "sort"), ("sort[x]=title", "sort[x]"),
            ("filter=x", "filter"), ("filter[]=x", "filter[]"), ("filter[title]x=1", "filter[title]x"),
            ("filter[title][eq][eq]=x", "filter[title][eq][eq]"), ("filter[title][like]=x", "filter[title][like]"),
            ("filter[startsAt]=soon", "filter[startsAt]"), ("filter[startsAt]=2026-02-30", "filter[startsAt]"),
            ("filter[isPublic]=1", "filter[isPublic]"), ("filter[event]=1", "filter[event]"),
            ("filter[isPublic][lt]=true", "filter[isPublic][lt]"),
            ("filter[event][contains]=a", "filter[event][contains]"),
            ("filter[speakers]=x", "filter[speakers]"), ("filter[event.name]=x", "filter[event.name]"),
            ("filter[title]=a&filter[title]=b", "filter[title]"), ("filter[title]=%00", "filter[title]"),
            ("include=nothing", "include"), ("include=event.event", "include"), ("include=event,", "include"),
            ("include=speakers.event.x.y", "include"), ("include=a,a,a,a,a,a,a,a,a,a,a", "include"),
            ("fields[nothing]=x", "fields[nothing]"), ("fields[sessions]=_id", "fields[sessions]"), ("what=1", "what"),
            ("ext=1", "ext"), ("%5Bx%5D=1", "[x]"),
        ])
    func badParameters(query: String, parameter: String) async throws {
        try await Self.run { _, call in
            let answer = try await call(.get, "/api/sessions?\(query)", as: "owner")
            #expect(answer.status == 400, "\(answer.text)")
            let problem = Self.problem(answer)
            #expect(problem["source"]?["parameter"]?.text == parameter, "\(answer.text)")
            #expect(problem["detail"]?.text?.isEmpty == false && problem["meta"]?["remedy"]?.text?.isEmpty == false)
            #expect(problem["status"] == "400" && problem["code"] == "bad_request")
        }
    }

    @Test("Queries of any size and form are answered or refused, but never with 500")
    func hostileQueries() async throws {
        try await Self.run { fixture, call in
            let many = (0..<10_000).map { "filter[title][ne]=\($0)" }.joined(separator: "&")
            let distinct = ["eq", "ne", "lt", "le", "gt", "ge", "contains"].flatMap { name in
                ["title", "subtitle", "level"].map { "filter[\($0)][\(name)]=x" }
            }.joined(separator: "&")
            for query in [
                many, distinct, "filter[title]=%ff%fe", "filter[title]=%", "filter[title]=%zz", "%ff=1", "&&&=&=",
                "filter[title][contains]=" + String(repeating: "a", count: 1_000),
                "filter[title]=" + String(repeating: "é", count: 3_000),
                "filter[title][in]=" + (0..<200).map(String.init).joined(separator: ","),
                "include=" + String(repeating: "event.", count: 500),
                "sort=" + String(repeating: "-", count: 5_000),
                "filter[" + String(repeating: "[", count: 1_000) + "]=x",
                "page[size]=99999999999999999999999", "page[number]=\(Int64.max)", "filter[title]='%3B--",
            ] {
                let answer = try await call(.get, "/api/sessions?\(query)", as: "owner")
                let shown = String(query.prefix(60))
                #expect(
                    answer.status == (query.hasPrefix("filter[title]='") ? 200 : 400), "\(shown): \(answer.status)")
                #expect(answer.text.utf8.count < 4_000, "\(shown)")
            }
            for path in ["%ff", "a%00b", "..%2fsessions", "sessions%2f", String(repeating: "x", count: 1_500)] {
                let answer = try await call(.get, "/api/\(path)", as: "owner")
                #expect(answer.status == 404, "\(path): \(answer.text)")
                let single = try await call(.get, "/api/sessions/\(path)", as: "owner")
                #expect(single.status == 404, "\(path): \(single.text)")
            }
            for id in [fixture.event, .generate()] {
                #expect(try await call(.get, "/api/sessions/\(id)", as: "owner").status == 404)
            }
        }
    }

    @Test("The content type is negotiated as the specification says")
    func negotiation() async throws {
        try await Self.run { _, call in
            for (accept, status) in [
                ("application/vnd.api+json", 200), ("application/vnd.api+json; profile=\"x\"", 200), ("*/*", 200),
                ("text/html, */*;q=0.1", 200), ("application/json", 200), ("text/html", 406),
                ("application/vnd.api+json; charset=utf-8", 406), ("application/vnd.api+json; ext=\"x\"", 406),
                ("application/vnd.api+json; ext=\"x\", application/vnd.api+json", 200),
            ] {
                let answer = try await call(.get, "/api/sessions", as: "owner", headers: [.accept: accept])
                #expect(answer.status == status, "\(accept): \(answer.text)")
                #expect(answer.headers[.contentType] == "application/vnd.api+json")
            }
        }
    }

    @Test("Failures of every kind are error objects below /api")
    func failures() async throws {
        try await Self.run { fixture, call in
            let cases: [(HTTPRequest.Method, String, String?, Int)] = [
                (.get, "/api/nothing", nil, 404), (.get, "/api/sessions", nil, 401), (.get, "/api", nil, 404),
                (.get, "/api/a/b/c/d/e", "owner", 404), (.get, "/api/session", "owner", 404),
                (.put, "/api/sessions/\(fixture.event)", "owner", 405),
            ]
            for (method, path, role, status) in cases {
                let answer = try await call(method, path, as: role)
                #expect(answer.status == status, "\(method) \(path): \(answer.text)")
                let problem = Self.problem(answer)
                #expect(problem["status"] == .string("\(status)") && problem["title"]?.text?.isEmpty == false)
                #expect(answer.headers[.contentType] == "application/vnd.api+json")
            }
            let outside = try await call(.get, "/apis", as: nil)
            #expect(outside.json["code"] == "not_found", "elsewhere failures keep their form")
        }
    }
}
