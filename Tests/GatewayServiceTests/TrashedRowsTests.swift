import Logging
import PostgresClient
import ServiceLifecycle
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel
import TomboloSyncProtocol

@testable import GatewayService

/// Objects in the trash stay on the server, whoever asks for them.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TrashedRowsTests {
    private static let roles = [
        "attendee", "registrar", "moderator", "trackOrganizer", "coorganizer", "organizer", "owner", "stranger",
        "admin", "superAdmin",
    ]
    /// How the texts of objects in the trash begin, and those of live ones.
    private static let (trashed, kept) = ("zq7", "kept")

    /// What a device received: whole rows, and changes to single columns.
    private struct Received: Sendable {
        var keys: Set<ObjectId> = []
        var texts: Set<String> = []

        /// Adds what comes up to and including the batch that contains a text.
        /// - Returns: false if the connection ended first.
        mutating func add(until text: String, _ device: DeviceSocket) async throws -> Bool {
            let end: Void? = try await device.first { message in
                if case .frame(let frame) = message { add(frame, device.codec.schema) }
                guard case .end = message else { return nil }
                return texts.contains(text) ? () : nil
            }
            return end != nil
        }

        private mutating func add(_ frame: BatchFrame, _ schema: Schema) {
            for block in frame.blocks {
                for row in 0..<block.rowCount {
                    for position in block.columns.indices {
                        switch block.value(row: row, position: position, schema: schema) {
                        case .string(let text): texts.insert(text)
                        case .objectId(let id) where position == 0: keys.insert(id)
                        default: break
                        }
                    }
                }
            }
        }
    }

    @Test("no device of any role gets objects in the trash, trashed before it connects or while it is connected")
    func devices() async throws {
        try await ServiceFixture.with { fixture in
            try await Self.addUsers(fixture)
            let live = try await Self.plant(Self.kept, fixture)
            let gone = try await Self.plant(Self.trashed, fixture)
            for (className, id) in gone { try await Self.trash(className, id, fixture.pool) }
            try await Self.insertBeacon(1, fixture)
            let found = try await Self.withGateway(fixture) { port, authenticator in
                try await Self.receive(fixture, port, authenticator) {
                    try await Self.plantMore(gone, fixture)
                }
            }
            let secret = Set(try await Self.trashedKeys(fixture))
            #expect(secret.count == 3 * gone.count)
            for (role, received) in found {
                #expect(received.keys.isDisjoint(with: secret), "\(role)")
                #expect(!received.texts.contains { $0.contains(Self.trashed) }, "\(role)")
            }
            #expect(found.count == Self.roles.count)
            #expect(found["superAdmin"]?.keys.isSuperset(of: live.map(\.id)) == true, "Live objects are sent.")
        }
    }

    // MARK: Objects

    private static func addUsers(_ fixture: ServiceFixture) async throws {
        for role in roles where fixture.users[role] == nil {
            let user = try await fixture.authenticator.register(
                email: ServiceFixture.email(role), password: ServiceFixture.password, displayName: role)
            try await fixture.rows().insert(
                "RoleAssignment",
                ["user": .objectId(user), "role": .string(role), "event": .objectId(fixture.event)])
        }
    }

    private static func classes(_ fixture: ServiceFixture) -> [ClassSchema] {
        fixture.rules.schema.classes.filter { $0.isTrashable && $0.owner == nil }
    }

    /// Inserts an object of every class that has a trash. All its texts begin with `word`.
    private static func plant(
        _ word: String, _ fixture: ServiceFixture
    ) async throws -> [(className: String, id: ObjectId)] {
        var planted: [(className: String, id: ObjectId)] = []
        for item in classes(fixture) {
            var values: [String: Value] = [:]
            for column in item.columns where column.type == .string && column.allowedValues == nil {
                values[column.name] = .string("\(word)-\(item.table)-\(column.sqlName)")
            }
            switch item.name {
            case "Event":
                values.merge(eventValues) { $1 }
            case "Session": values["state"] = "accepted"
            case "Ticket": values["kind"] = "free"
            case "Order": values["state"] = "placed"
            default: break
            }
            if item.name != "Event", item.columnIndex("event") != nil { values["event"] = .objectId(fixture.event) }
            planted.append((item.name, try await fixture.rows().insert(item.name, values)))
        }
        return planted
    }

    private static let eventValues: [String: Value] = [
        "state": "published", "privacy": "public", "startsAt": .date(1_778_745_600_000_000),
        "endsAt": .date(1_778_774_400_000_000),
    ]

    /// Inserts an object that everybody may read, to mark that everything before it has been sent.
    private static func insertBeacon(_ number: Int, _ fixture: ServiceFixture) async throws {
        let own: [String: Value] = ["name": .string("beacon \(number)"), "identifier": "b", "timezone": "UTC"]
        try await fixture.rows().insert("Event", eventValues.merging(own) { $1 })
    }

    private static func trash(_ className: String, _ id: ObjectId, _ pool: PostgresPool) async throws {
        try await pool.query("SELECT tombolo.trash($1, $2, 'ada', NULL)", [.text(className), .text(id.stringValue)])
    }

    /// Puts more objects in the trash: some are created there, some are created and moved there in one transaction. Also
    /// changes the objects that are already there.
    private static func plantMore(_ gone: [(className: String, id: ObjectId)], _ fixture: ServiceFixture) async throws {
        for (className, id) in gone {
            guard let item = fixture.rules.schema[className] else { continue }
            let table = PostgresSQL.quoteIdentifier(item.table)
            func copy(_ copy: ObjectId, _ changes: String) -> String {
                """
                INSERT INTO \(table) SELECT (jsonb_populate_record(t, jsonb_build_object('_id', '\\x\(copy)'\(changes)))).*
                FROM \(table) t WHERE t._id = '\\x\(id)'
                """
            }
            let (made, moved) = (ObjectId.generate(), ObjectId.generate())
            let nowhere = ["trashed_at", "trashed_by", "trash_group", "trash_reason"].map { ", '\($0)', NULL" }.joined()
            try await fixture.pool.execute(
                """
                BEGIN;
                \(copy(made, ""));
                \(copy(moved, nowhere));
                SELECT tombolo.trash('\(className)', '\(moved)', 'ada', NULL);
                COMMIT
                """)
            let text = item.columns.first { $0.type == .string && $0.allowedValues == nil && $0.name != "email" }
            guard let text else { continue }
            try await fixture.pool.query(
                "UPDATE \(table) SET \(PostgresSQL.quoteIdentifier(text.sqlName)) = '\(trashed) changed' WHERE _id = $1",
                [.bytea(id.bytes)])
        }
        try await insertBeacon(2, fixture)
    }

    private static func trashedKeys(_ fixture: ServiceFixture) async throws -> [ObjectId] {
        var keys: [ObjectId] = []
        for item in classes(fixture) {
            let table = PostgresSQL.quoteIdentifier(item.table)
            keys += try await fixture.pool.query("SELECT _id FROM \(table) WHERE trashed_at IS NOT NULL")
                .compactMap { ObjectId(bytes: try $0[0].bytes) }
        }
        return keys
    }

    // MARK: Devices

    /// Runs a gateway with a sequencer in this process, under the gateway's own database role.
    private static func withGateway<Found: Sendable>(
        _ fixture: ServiceFixture,
        _ body: @escaping @Sendable (_ port: Int, Authenticator) async throws -> Found
    ) async throws -> Found {
        var logger = Logger(label: "trashed-rows")
        logger.logLevel = .critical
        let user = try await TestCluster.member(of: "tombolo_gateway", fixture.pool.configuration)
        let pool = PostgresPool(configuration: user, options: .patient(16), logger: logger)
        do {
            let models = try await DatabaseRole.gateway.loadModels(pool, logger: logger)
            let authenticator = await Authenticator(
                pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
                hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants })
            let (ports, hasPort) = AsyncStream.makeStream(of: Int.self)
            let services = ServiceGroup(
                services: try await buildGatewayServices(
                    host: "127.0.0.1", port: 0, pool: pool, models: models, authenticator: authenticator,
                    limits: .patient, logger: logger, whenRunning: { hasPort.yield($0) }), logger: logger)
            let found = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await services.run() }
                var found: Found?
                for await port in ports {
                    found = try await body(port, authenticator)
                    break
                }
                await services.triggerGracefulShutdown()
                try await group.waitForAll()
                return try #require(found)
            }
            await pool.shutdown()
            return found
        } catch {
            await pool.shutdown()
            throw error
        }
    }

    /// How far the devices have got.
    private final class Progress: Sendable {
        let found = Mutex<[String: Received]>([:])
        /// Devices that have the first beacon.
        let ready = Mutex(0)
    }

    /// What devices of all roles get up to the second beacon if they subscribe to everything.
    /// - Parameter meanwhile: runs once all of them have the first beacon.
    private static func receive(
        _ fixture: ServiceFixture, _ port: Int, _ authenticator: Authenticator,
        _ meanwhile: @escaping @Sendable () async throws -> Void
    ) async throws -> [String: Received] {
        let schema = fixture.rules.schema
        let wanted = schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for role in roles {
                let login = try await authenticator.login(
                    email: ServiceFixture.email(role), password: ServiceFixture.password)
                group.addTask {
                    // A device that stalls before its session is open has to try again.
                    let isReady = Mutex(false)
                    while !isReady.withLock({ $0 }) {
                        try Task.checkCancellation()
                        do {
                            try await DeviceSocket.with(schema, port: port) { device in
                                try await device.sayHello(wanting: wanted, token: login.token)
                                var received = Received()
                                guard try await received.add(until: "beacon 1", device) else { return }
                                isReady.withLock { $0 = true }
                                progress.ready.withLock { $0 += 1 }
                                let isDone = try await received.add(until: "beacon 2", device)
                                try #require(isDone, "\(role) gets no second beacon")
                                progress.found.withLock { [received] in $0[role] = received }
                            }
                        } catch  where !isReady.withLock({ $0 }) {}
                    }
                }
            }
            group.addTask {
                while progress.ready.withLock({ $0 }) < roles.count { try await Task.sleep(for: .milliseconds(10)) }
                try await meanwhile()
            }
            try await group.waitForAll()
        }
        return progress.found.withLock { $0 }
    }
}
