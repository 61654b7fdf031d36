import ConferenceSetup
import Foundation
import Logging
public import PostgresClient
import Synchronization
import TestSupport
public import TomboloAuthentication
import TomboloHTTP
import TomboloMigration
public import TomboloModel
public import TomboloRules
public import TomboloServerModel
import TomboloSQL

/// A database of its own with a published event, a draft, and a user in every role.
public struct ServiceFixture: Sendable {
    /// What a server works with. It connects to the database with its own database role.
    public struct Server: Sendable {
        public let pool: PostgresPool
        public let authenticator: Authenticator
    }

    /// Connects as the database's owner.
    public let pool: PostgresPool
    /// Uses the owner's connections.
    public let authenticator: Authenticator
    public let rules: Rules
    /// Loaded with the servers' own database roles; they don't follow changes by themselves.
    public let adminModels: ServerModels
    public let ticketModels: ServerModels
    public let adminServer: Server
    public let ticketServer: Server
    /// By role: `admin`, `superAdmin`, `owner`, `organizer`, `coorganizer` and `registrar`, all but the first two in the published
    /// event; `attendee`; and `stranger`, the owner of the draft.
    public let users: [String: ObjectId]
    public let event: ObjectId
    public let draft: ObjectId
    public let room: ObjectId
    public let speakers: [ObjectId]
    /// Of the published event: one accepted, one confirmed, one pending.
    public let sessions: [ObjectId]
    /// Of the published event, in order; the third one is hidden.
    public let tickets: [ObjectId]
    public let draftTicket: ObjectId
    public let draftSession: ObjectId

    public static let password = "correct horse"

    public static func email(_ role: String) -> String { "\(role.lowercased())@example.org" }

    private static let template = Task { () async throws -> String in
        let cluster = try await TestCluster.shared()
        let configuration = try await cluster.createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(connection).apply()
        await connection.close()
        return configuration.database ?? ""
    }

    /// Creates the database, runs `body` with patient servers, and closes the connections.
    /// - Parameter connections: the most connections that each server may have.
    public static func with<R: Sendable>(
        connections: Int = 8, _ body: @Sendable (ServiceFixture) async throws -> R
    ) async throws -> R {
        let template = try await template.value
        let configuration = try await TestCluster.shared().createDatabase(template: template)
        // The owner's pool is for setting up and inspecting.
        var pools = [PostgresPool(configuration: configuration, options: .patient(3))]
        for role in ["tombolo_admin", "tombolo_tickets"] {
            let user = try await TestCluster.member(of: role, configuration)
            pools.append(PostgresPool(configuration: user, options: .patient(connections)))
        }
        func shutDown() async {
            for pool in pools { await pool.shutdown() }
        }
        do {
            let fixture = try await ServiceFixture(pool: pools[0], adminPool: pools[1], ticketPool: pools[2])
            let result = try await withPatience { try await body(fixture) }
            await shutDown()
            return result
        } catch {
            await shutDown()
            throw error
        }
    }

    private init(pool: PostgresPool, adminPool: PostgresPool, ticketPool: PostgresPool) async throws {
        self.pool = pool
        let models = try await ServerModels.load(pool)
        rules = models.rules
        let logger = Logger(label: "fixture")
        adminModels = try await DatabaseRole.admin.loadModels(adminPool, logger: logger)
        ticketModels = try await Conference.ticketRole.loadModels(ticketPool, logger: logger)
        adminServer = Server(pool: adminPool, authenticator: try await Self.authenticator(adminPool, models))
        ticketServer = Server(pool: ticketPool, authenticator: try await Self.authenticator(ticketPool, models))
        authenticator = try await Self.authenticator(pool, models)
        let rows = RowWriter(pool: pool)
        let roles = ["admin", "superAdmin", "owner", "organizer", "coorganizer", "registrar", "attendee", "stranger"]
        var users: [String: ObjectId] = [:]
        for role in roles {
            users[role] = try await authenticator.register(
                email: Self.email(role), password: Self.password, displayName: "The \(role)")
        }
        self.users = users

        event = try await rows.insert("Event", Self.eventValues(name: "Island Days", state: "published"))
        draft = try await rows.insert("Event", Self.eventValues(name: "Secret Days", state: "draft"))
        for role in roles where role != "attendee" {
            let isOfPlatform = role == "admin" || role == "superAdmin"
            let scope = isOfPlatform ? Value.null : .objectId(role == "stranger" ? draft : event)
            try await rows.insert(
                "RoleAssignment",
                [
                    "user": users[role].map(Value.objectId) ?? .null,
                    "role": .string(role == "stranger" ? "owner" : role), "event": scope,
                ])
        }
        let ofEvent: [String: Value] = ["event": .objectId(event), "isPublic": .bool(true)]
        room = try await rows.insert("Microlocation", ofEvent.merging(["name": "Main Hall"]) { $1 })
        var speakers: [ObjectId] = []
        for name in ["Ada", "Grace"] {
            speakers.append(try await rows.insert("Speaker", ofEvent.merging(["name": .string(name)]) { $1 }))
        }
        self.speakers = speakers
        var sessions: [ObjectId] = []
        for (index, state) in ["accepted", "confirmed", "pending"].enumerated() {
            let session = try await rows.insert(
                "Session",
                ofEvent.merging([
                    "title": .string("Talk \(index + 1)"), "state": .string(state), "room": .objectId(room),
                    "startsAt": .date(1_778_749_200_000_000 + Int64(index) * 3_600_000_000),
                ]) { $1 })
            for (place, speaker) in speakers.enumerated() {
                try await rows.insert(
                    "Session.speakers",
                    [
                        "owner": .objectId(session), "rank": .string("a\(place)"), "target": .objectId(speaker),
                    ])
            }
            sessions.append(session)
        }
        self.sessions = sessions
        var tickets: [ObjectId] = []
        for (index, name) in ["Early", "Regular", "Staff", "Student", "Supporter"].enumerated() {
            tickets.append(
                try await rows.insert(
                    "Ticket",
                    ofEvent.merging([
                        "name": .string(name), "rank": .string("a\(index)"), "kind": "paid", "price": .int(1_050),
                        "currency": "EUR", "isHidden": .bool(name == "Staff"),
                    ]) { $1 }))
        }
        self.tickets = tickets
        draftTicket = try await rows.insert(
            "Ticket", ["event": .objectId(draft), "name": "Secret", "rank": "a0", "kind": "free", "currency": "EUR"])
        draftSession = try await rows.insert(
            "Session", ["event": .objectId(draft), "title": "Secret talk", "state": "accepted"])
    }

    private static func authenticator(
        _ pool: PostgresPool, _ models: ServerModels, mail: MailRoom? = nil, secondFactor: SecondFactorPolicy = .ignored
    ) async throws -> Authenticator {
        await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
            hasher: PasswordHasher(parameters: .weakForTests), mail: mail, secondFactor: secondFactor,
            grants: { models.grants })
    }

    /// Another authenticator for the admin server, which can send mail or require second factors.
    public func adminAuthenticator(
        mail: MailRoom? = nil, secondFactor: SecondFactorPolicy = .ignored
    ) async throws -> Authenticator {
        try await Self.authenticator(adminServer.pool, adminModels, mail: mail, secondFactor: secondFactor)
    }

    private static func eventValues(name: String, state: String) -> [String: Value] {
        [
            "name": .string(name), "identifier": .string(name), "state": .string(state), "privacy": "public",
            "timezone": "Europe/Berlin", "startsAt": .date(1_778_745_600_000_000),
            "endsAt": .date(1_778_774_400_000_000),
        ]
    }

    /// Makes the servers read every user's roles from the database again.
    public func forgetRoles() {
        for authenticator in [adminServer.authenticator, ticketServer.authenticator, authenticator] {
            authenticator.forgetRoles()
        }
    }

    public func rows() -> RowWriter { RowWriter(pool: pool) }

    /// The authorization header for a role's user; nil without a role.
    public func authorization(_ role: String?) async throws -> String? {
        guard let role else { return nil }
        return try await "Bearer " + authenticator.login(email: Self.email(role), password: Self.password).token
    }
}

extension Value: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}
