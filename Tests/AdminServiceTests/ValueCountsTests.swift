import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// How many resources have each of a property's values.
@Suite struct ValueCountsTests {
    private typealias Count =
        @Sendable (
            _ type: String, _ field: String, _ values: [Value], _ filter: TomboloModel.Predicate
        ) async throws -> ResourceReader.ValueCounts

    /// - Parameters:
    ///   - roles: the caller's roles, which apply everywhere.
    ///   - document: the rules; nil for the fixture's rules.
    private static func count(
        _ fixture: ServiceFixture, _ roles: [String] = ["superAdmin"], rules document: String? = nil
    ) throws -> Count {
        let rules =
            try document.map {
                try Rules(schema: fixture.rules.schema, book: try RuleBook(parsing: $0, file: "test.yaml"))
            } ?? fixture.rules
        let types = ResourceTypes(rules.schema)
        let subject = Subject(user: .generate(), grants: Set(roles.map { RoleGrant(role: Role($0), scope: nil) }))
        let view = CallerView(subject: subject, rules: rules, types: types)
        let pool = fixture.adminServer.pool
        return { name, field, values, filter in
            let type = try #require(types[name])
            let resource = try #require(type.fields.first { $0.name == field })
            return try await ResourceReader(view: view).counts(
                type, of: resource, among: values, matching: filter, pool)
        }
    }

    @Test("Values are counted by type under a filter, with nulls and the remaining values counted separately")
    func counts() async throws {
        try await ServiceFixture.with { fixture in
            let count = try Self.count(fixture)
            let states = try await count("sessions", "state", ["accepted", "pending", "draft"], .constant(true))
            #expect(states.counts == ["accepted": 2, "pending": 1] && states.none == 0 && states.others == 1)
            let one = try await count(
                "sessions", "state", ["accepted"], .compare(PropertyPath("title"), .equal, "Talk 1"))
            #expect(one.counts == ["accepted": 1] && one.none == 0 && one.others == 0)
            let rooms = try await count("sessions", "room", [.objectId(fixture.room)], .constant(true))
            #expect(rooms.counts == [.objectId(fixture.room): 3] && rooms.none == 1 && rooms.others == 0)
            let truths = try await count("sessions", "isPublic", [.bool(true), .bool(false)], .constant(true))
            #expect(truths.counts == [.bool(true): 3, .bool(false): 1])
            let prices = try await count("tickets", "price", [.int(1_050), .int(7)], .constant(true))
            #expect(prices.counts == [.int(1_050): 5] && prices.none == 0 && prices.others == 1)
            let times = try await count("sessions", "startsAt", [.date(1_778_749_200_000_000)], .constant(true))
            #expect(times.counts == [.date(1_778_749_200_000_000): 1] && times.none == 1 && times.others == 2)
            let none = try await count("sessions", "state", [], .constant(true))
            #expect(none.counts.isEmpty && none.none == 0 && none.others == 4)
        }
    }

    @Test("Only resources that the caller may read are counted, and none in the trash")
    func visible() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let states: [Value] = ["accepted", "confirmed", "pending"]
            let visitor = try Self.count(fixture, [])
            let seen = try await visitor("sessions", "state", states, .constant(true))
            #expect(seen.counts == ["accepted": 1, "confirmed": 1] && seen.none == 0 && seen.others == 0)
            let owner = try Self.count(fixture)
            let all = try await owner("sessions", "state", states, .constant(true))
            #expect(all.counts == ["accepted": 2, "confirmed": 1, "pending": 1])
            let gone = try await call(.post, "/admin/sessions/\(fixture.sessions[0])/trash", as: "admin")
            #expect(gone.status == 200, "\(gone.text)")
            let left = try await owner("sessions", "state", states, .constant(true))
            #expect(left.counts == ["accepted": 1, "confirmed": 1, "pending": 1])
        }
    }

    @Test("Properties that the caller can't see, or with several values, can't be counted by")
    func refused() async throws {
        try await ServiceFixture.with { fixture in
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
                      additional_fields: {read: false, write: false}
                """
            let reader = try Self.count(fixture, [], rules: rules)
            let owner = try Self.count(fixture)
            let titles = try await reader("sessions", "title", ["Talk 1"], .constant(true))
            #expect(titles.counts == ["Talk 1": 1] && titles.others == 3)
            for (count, field) in [(reader, "state"), (reader, "event"), (owner, "speakers")] {
                let failure = await #expect(throws: RequestFailure.self) {
                    _ = try await count("sessions", field, ["accepted"], .constant(true))
                }
                #expect(failure?.code.status == .badRequest, "\(field)")
            }
        }
    }
}
