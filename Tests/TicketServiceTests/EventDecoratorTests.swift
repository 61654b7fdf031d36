import EventModels
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TicketService
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The event platform's decorators, with a test for each way in which Open Event's went wrong.
@Suite struct EventDecoratorTests {
    private static func run(
        _ register: @escaping @Sendable (ServiceFixture, Routes) -> Void,
        calls body: @escaping @Sendable (ServiceFixture, ServiceTestSupport.Caller) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            for role in ["moderator", "trackOrganizer"] {
                let user = try await fixture.authenticator.register(
                    email: ServiceFixture.email(role), password: ServiceFixture.password, displayName: role)
                try await fixture.rows().insert(
                    "RoleAssignment",
                    ["user": .objectId(user), "role": .string(role), "event": .objectId(fixture.event)])
            }
            let app = HTTPApplication(
                name: "test", host: "127.0.0.1", port: 0, logger: Logger(label: "test"),
                authenticator: fixture.ticketServer.authenticator
            ) { register(fixture, $0) }
            try await app.test(.router) { try await body(fixture, ServiceTestSupport.Caller($0, fixture)) }
        }
    }

    private static func on(
        _ routes: Routes, _ path: String, _ access: RouteAccess<Subject>
    ) {
        routes.on(.get, path, access: access) { _, _, _ in "in" }
    }

    private static func scope(_ fixture: ServiceFixture) -> RouteScope {
        .event(by: LiveRules(fixture.rules), from: fixture.pool)
    }

    private static let everybody: [String?] = [
        nil, "attendee", "stranger", "registrar", "moderator", "trackOrganizer", "coorganizer", "organizer", "owner",
        "admin", "superAdmin",
    ]

    @Test("each decorator admits its role and those above it, in their event, and nobody else")
    func everyDecorator() async throws {
        let organizers: Set<String> = ["owner", "organizer", "superAdmin"]
        let expected: [(path: String, roles: Set<String>)] = [
            ("superAdmin", ["superAdmin"]), ("admin", ["admin", "superAdmin"]), ("owner", ["owner", "superAdmin"]),
            ("organizer", organizers), ("coorganizer", organizers.union(["coorganizer"])),
            ("trackOrganizer", organizers.union(["trackOrganizer"])),
            ("moderator", organizers.union(["coorganizer", "moderator"])),
            ("registrar", organizers.union(["coorganizer", "registrar"])),
        ]
        try await Self.run { fixture, routes in
            let event = Self.scope(fixture)
            Self.on(routes, "/superAdmin/{id}", .isSuperAdmin)
            Self.on(routes, "/admin/{id}", .isAdmin)
            Self.on(routes, "/owner/{id}", .isOwner(of: event))
            Self.on(routes, "/organizer/{id}", .isOrganizer(of: event))
            Self.on(routes, "/coorganizer/{id}", .isCoorganizer(of: event))
            Self.on(routes, "/trackOrganizer/{id}", .isTrackOrganizer(of: event))
            Self.on(routes, "/moderator/{id}", .isModerator(of: event))
            Self.on(routes, "/registrar/{id}", .isRegistrar(of: event))
        } calls: { fixture, call in
            for (path, roles) in expected {
                for role in Self.everybody {
                    let status = try await call(.get, "/\(path)/\(fixture.event)", as: role).status
                    let isAllowed = role.map(roles.contains) ?? false
                    #expect(status == (isAllowed ? 200 : role == nil ? 401 : 403), "\(role ?? "nobody") at \(path)")
                }
            }
        }
    }

    @Test("an address without words such as session and create is decided like one with all of them")
    func words() async throws {
        try await Self.run { fixture, routes in
            Self.on(routes, "/x/{id}", .isOrganizer(of: Self.scope(fixture)))
            Self.on(routes, "/create/edit/delete/session/track/speaker/{id}", .isOrganizer(of: Self.scope(fixture)))
        } calls: { fixture, call in
            for path in ["/x", "/create/edit/delete/session/track/speaker"] {
                for query in ["", "?next=/create/&edit=session&delete=track", "?is_organizer=true&role=owner"] {
                    for (role, status) in [("organizer", 200), ("coorganizer", 403), ("attendee", 403)] {
                        let answer = try await call(.get, "\(path)/\(fixture.event)\(query)", as: role)
                        #expect(answer.status == status, "\(role) \(path)\(query): \(answer.text)")
                    }
                }
            }
        }
    }

    @Test("access to an event is decided by its key, even if its name is session, create or an id")
    func names() async throws {
        try await Self.run { fixture, routes in
            Self.on(routes, "/events/{id}", .isOrganizer(of: Self.scope(fixture)))
        } calls: { fixture, call in
            for name in ["session", "/create/", "\(fixture.event)"] {
                let event = try await fixture.rows().insert(
                    "Event",
                    [
                        "name": .string(name), "identifier": .string(name), "state": "published",
                        "privacy": "public", "timezone": "UTC", "startsAt": .date(0), "endsAt": .date(1),
                    ])
                #expect(try await call(.get, "/events/\(event)", as: "organizer").status == 403)
                #expect(try await call(.get, "/events/\(event)", as: "superAdmin").status == 200)
                for text in [name, name + "?id=\(fixture.event)"]
                where !name.contains("/") && name != "\(fixture.event)" {
                    #expect(try await call(.get, "/events/\(text)", as: "organizer").status == 403)
                }
            }
        }
    }

    @Test("users without rights get 403 for another event's id and for an id that no event has")
    func otherEvents() async throws {
        try await Self.run { fixture, routes in
            Self.on(routes, "/events/{id}", .isOrganizer(of: Self.scope(fixture)))
            let ofSession = RouteScope.event(of: Session.self, by: LiveRules(fixture.rules), from: fixture.pool)
            Self.on(routes, "/sessions/{id}", .isOrganizer(of: ofSession))
        } calls: { fixture, call in
            func status(_ path: String, as role: String) async throws -> Int {
                try await call(.get, path, as: role).status
            }
            for role in ["organizer", "owner", "attendee"] {
                for id in [fixture.draft, ObjectId.generate()] {
                    let event = try await status("/events/\(id)", as: role)
                    #expect(event == 403, "\(role)")
                }
                let session = try await status("/sessions/\(fixture.draftSession)", as: role)
                #expect(session == 403, "\(role)")
            }
            let own = try await status("/sessions/\(fixture.sessions[0])", as: "organizer")
            #expect(own == 200)
            // The id of their event isn't the id of a session.
            let mistaken = try await status("/sessions/\(fixture.event)", as: "organizer")
            #expect(mistaken == 403)
            let draft = try await status("/sessions/\(fixture.draftSession)", as: "stranger")
            #expect(draft == 200)
        }
    }

    @Test("stacked decorators all apply")
    func stacked() async throws {
        try await Self.run { fixture, routes in
            let event = Self.scope(fixture)
            let canEdit: RouteAccess<ObjectsGrant> = .can(
                .update, Session.self, in: event, by: LiveRules(fixture.rules))
            Self.on(routes, "/one/{id}", .isOrganizer(of: event).and(.isAdmin))
            Self.on(routes, "/two/{id}", RouteAccess<Subject>.isAdmin.and(.isOrganizer(of: event)))
            routes.on(.get, "/three/{id}", access: canEdit.and(.isOrganizer(of: event))) { _, _, _ in "in" }
        } calls: { fixture, call in
            for role in Self.everybody.compactMap({ $0 }) {
                let statuses = [
                    try await call(.get, "/one/\(fixture.event)", as: role).status,
                    try await call(.get, "/two/\(fixture.event)", as: role).status,
                ]
                let expected = role == "superAdmin" ? 200 : 403
                #expect(statuses == [expected, expected], "\(role)")
                let both = try await call(.get, "/three/\(fixture.event)", as: role).status
                #expect(both == (["owner", "organizer", "superAdmin"].contains(role) ? 200 : 403), "\(role)")
            }
        }
    }

    @Test("a co-organizer may change sessions, but nobody's role, not even their own")
    func promotion() async throws {
        try await Self.run { fixture, routes in
            let event = Self.scope(fixture)
            for operation in [TomboloRules.Operation.create, .update, .delete] {
                routes.on(
                    .get, "/sessions/\(operation)/{id}",
                    access: .can(operation, Session.self, in: event, by: LiveRules(fixture.rules))
                ) { _, _, _ in "in" }
                routes.on(
                    .get, "/roles/\(operation)/{id}",
                    access: .can(operation, RoleAssignment.self, in: event, by: LiveRules(fixture.rules))
                ) { _, _, _ in "in" }
            }
        } calls: { fixture, call in
            let letters: [(role: String, sessions: Set<String>, roles: Bool)] = [
                ("owner", ["create", "update", "delete"], true), ("organizer", ["create", "update", "delete"], false),
                ("coorganizer", ["update"], false), ("moderator", [], false), ("attendee", [], false),
                ("stranger", [], false),
            ]
            for line in letters {
                for operation in ["create", "update", "delete"] {
                    let sessions = try await call(.get, "/sessions/\(operation)/\(fixture.event)", as: line.role)
                    #expect(
                        sessions.status == (line.sessions.contains(operation) ? 200 : 403), "\(line.role) \(operation)")
                    let roles = try await call(.get, "/roles/\(operation)/\(fixture.event)", as: line.role)
                    #expect(roles.status == (line.roles ? 200 : 403), "\(line.role) \(operation)")
                }
            }
        }
    }

    @Test("an event's organizers see what each role may do in it, and a changed permission with the next request")
    func eventPermissions() async throws {
        try await ServiceFixture.with { fixture in
            let app = try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: fixture.ticketModels.liveRules(),
                authenticator: fixture.ticketServer.authenticator)
            try await app.test(.router) { client in
                let call = ServiceTestSupport.Caller(client, fixture)
                let path = "/events/\(fixture.event)/permissions"
                for role in Self.everybody where !["moderator", "trackOrganizer"].contains(role) {
                    let isAllowed = ["coorganizer", "organizer", "owner", "admin", "superAdmin"].contains(role)
                    let status = try await call(.get, path, as: role).status
                    #expect(status == (isAllowed ? 200 : role == nil ? 401 : 403), "\(role ?? "nobody")")
                }
                #expect(try await call(.get, "/events/\(fixture.draft)/permissions", as: "owner").status == 403)
                func cell() async throws -> JSON? {
                    try await call(.get, path, as: "owner").json["permissions"]?["coorganizer"]?["tickets"]
                }
                #expect(try await cell() == "-ru-")
                let ticket = "/tickets/\(fixture.tickets[0])/move"
                let move = #"{"last": true}"#
                let before = try await call(.post, ticket, as: "coorganizer", body: move).status
                let admin = try #require(fixture.users["superAdmin"])
                let model = fixture.adminModels.current
                _ = try await fixture.adminModels.set(
                    .init(role: "coorganizer", service: "tickets", operation: .update), to: false, of: "conference",
                    at: try #require(model.ruleVersions["conference"]),
                    by: Subject(user: admin, grants: [RoleGrant(Role(.superAdmin))]))
                try await fixture.ticketModels.refresh()
                #expect(try await cell() == "-r--")
                #expect(before != 403)
                #expect(try await call(.post, ticket, as: "coorganizer", body: move).status == 403)
                #expect(try await call(.post, ticket, as: "organizer", body: move).status != 403)
            }
        }
    }
}
