import ConferenceSetup
import EventModels
import Foundation
import ListingModels
import PostgresClient
import TestSupport
import TomboloAuthentication
import TomboloMigration
import TomboloModel

/// A database with two apps, the conference and home listings, with users, a published event and a draft; server
/// processes; and devices, which have the classes of both apps.
final class Platform: Sendable {
    /// The schema of both apps.
    static let schema: Schema = {
        do {
            return try Schema.of(EventModels.objectTypes + ListingModels.objectTypes)
        } catch {
            preconditionFailure("The two apps' classes can't be combined: \(error)")
        }
    }()

    static let secret = "the end-to-end tests sign with this key"
    static let password = "correct horse"

    let cluster: TestCluster
    let configuration: PostgresConfiguration
    let pool: PostgresPool
    let gateways: [Server]
    let sequencer: Server
    /// The standby for ``sequencer``; not started.
    let standby: Server
    let folder: URL
    let event: ObjectId
    let draft: ObjectId
    let users: [String: ObjectId]
    private let tokens: [String: String]

    static func email(_ name: String) -> String { "\(name)@example.org" }

    /// Which programs connect to the database through a pooler, as the folder of its socket. The others connect
    /// directly.
    struct Poolers: Sendable {
        var gateways: String?
        var sequencer: String?
    }

    /// - Parameters:
    ///   - cluster: a cluster of the caller's own, if it will be killed.
    ///   - standbyFolder: the folder of the socket of a standby for the gateways to use.
    ///   - settings: environment variables of the gateways.
    ///   - sequencerSettings: environment variables of the sequencers.
    static func with(
        cluster: TestCluster? = nil, gateways: Int = 1, standbyFolder: String? = nil, poolers: Poolers = Poolers(),
        settings: [String: String] = [:], sequencerSettings: [String: String] = [:],
        _ body: @Sendable (Platform) async throws -> Void
    ) async throws {
        let own: TestCluster
        if let cluster { own = cluster } else { own = try await TestCluster.shared() }
        let platform = try await Platform(
            cluster: own, gatewayCount: gateways, standbyFolder: standbyFolder, poolers: poolers, settings: settings,
            sequencerSettings: sequencerSettings)
        do {
            try await body(platform)
        } catch {
            await platform.end(keepsFiles: true)
            throw error
        }
        await platform.end(keepsFiles: false)
    }

    private init(
        cluster: TestCluster, gatewayCount: Int, standbyFolder: String?, poolers: Poolers, settings: [String: String],
        sequencerSettings: [String: String]
    ) async throws {
        self.cluster = cluster
        configuration = try await cluster.createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let rules = try String(
            contentsOf: root.appending(path: "Apps/Examples/Listings/listings.rules.yaml"), encoding: .utf8)
        let listings = AppDocuments(models: try ListingModels.document(), rules: rules)
        try await Migrator.toDocuments([listings], on: owner).apply()
        await owner.close()
        pool = PostgresPool(configuration: configuration, options: .patient(12))
        folder = FileManager.default.temporaryDirectory.appending(path: "end-to-end-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: Self.secret),
            hasher: PasswordHasher(parameters: .weakForTests))
        var users: [String: ObjectId] = [:]
        var tokens: [String: String] = [:]
        for name in ["attendee", "organizer", "stranger"] {
            users[name] = try await authenticator.register(
                email: Self.email(name), password: Self.password, displayName: "The \(name)")
            tokens[name] = try await authenticator.login(email: Self.email(name), password: Self.password).token
        }
        self.users = users
        self.tokens = tokens
        (event, draft) = (.generate(), .generate())
        for (id, name, state) in [(event, "Island Days", "published"), (draft, "Draft Days", "draft")] {
            try await pool.query(
                """
                INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
                VALUES ($1, $2, 'days', $3, 'public', now(), now())
                """, [.bytea(id.bytes), .text(name), .text(state)])
        }
        try await pool.query(
            #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, 'organizer', $3)"#,
            [.bytea(ObjectId.generate().bytes), .bytea(users["organizer"]?.bytes), .bytea(event.bytes)])
        // Agents write listings.
        try await AccountRegistry(pool: pool).setCustomData(#"{"isAgent": true}"#, email: Self.email("organizer"))

        let gatewayUser = try await TestCluster.member(of: "tombolo_gateway", configuration)
        let (database, keywords) = (configuration.database ?? "", configuration.keywords)
        func address(in folder: String?) -> String {
            "host=\(folder ?? keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(gatewayUser.user ?? "") "
                + "dbname=\(database)"
        }
        func environment(in folder: String?, _ settings: [String: String]) -> [String: String] {
            ["TOMBOLO_DATABASE_URL": address(in: folder), "TOMBOLO_JWT_SECRET": Self.secret].merging(settings) { $1 }
        }
        let ofSequencers = environment(in: poolers.sequencer, sequencerSettings)
        sequencer = Server(
            ["--sequencer-only"], environment: ofSequencers, messages: folder.appending(path: "sequencer.messages"))
        standby = Server(
            ["--sequencer-only"], environment: ofSequencers, messages: folder.appending(path: "standby.messages"))
        var ofGateways = environment(in: poolers.gateways, settings)
        if let standbyFolder { ofGateways["TOMBOLO_STANDBY_URL"] = address(in: standbyFolder) }
        let (folder, variables) = (folder, ofGateways)
        gateways = (0..<gatewayCount).map { index in
            Server(
                ["--no-sequencer"], environment: variables,
                messages: folder.appending(path: "gateway-\(index).messages"))
        }
        try await sequencer.start()
        for gateway in gateways { try await gateway.start() }
    }

    private func end(keepsFiles: Bool) async {
        for server in gateways + [sequencer, standby] { try? await server.kill9() }
        await pool.shutdown()
        if keepsFiles {
            print("The files of the failed test are in \(folder.path())")
        } else {
            try? FileManager.default.removeItem(at: folder)
        }
    }

    func token(of user: String) throws -> String {
        guard let token = tokens[user] else { throw EndToEndFailure("There is no user \(user).") }
        return token
    }

    func id(of user: String) throws -> ObjectId {
        guard let id = users[user] else { throw EndToEndFailure("There is no user \(user).") }
        return id
    }

    /// A started device of a user, with an empty file.
    /// - Parameters:
    ///   - proxy: the proxy to connect to instead of a gateway.
    ///   - tracing: environment variables of the device's tracer; empty for none.
    func device(
        _ name: String, of user: String, gateway: Int = 0, behind proxy: Proxy? = nil, tracing: [String: String] = [:]
    ) async throws -> DeviceProcess {
        let url: String
        if let proxy { url = proxy.url } else { url = await gateways[gateway].url }
        let device = DeviceProcess(
            name: name, file: folder.appending(path: "\(name).realm"), url: url,
            trusted: proxy?.authority.certificate, token: try token(of: user), environment: tracing)
        try await device.start()
        return device
    }

    // MARK: Rows by plain SQL

    @discardableResult
    func sql(_ statement: String, _ parameters: [PostgresParameter] = []) async throws -> PostgresResult {
        try await pool.query(statement, parameters)
    }

    @discardableResult
    func insertListing(_ location: String, price: Int64 = 0, bedrooms: Int64 = 1) async throws -> ObjectId {
        let id = ObjectId.generate()
        try await sql(
            "INSERT INTO listing (_id, location, price, bedrooms) VALUES ($1, $2, $3, $4)",
            [.bytea(id.bytes), .text(location), .int64(price), .int64(bedrooms)])
        return id
    }

    func count(_ query: String) async throws -> Int64 { try await sql(query)[0, 0].int64 }

    // MARK: Waiting

    /// Waits until a condition that must come true holds.
    func eventually(
        _ what: String, within limit: Duration = .seconds(600), _ condition: @Sendable () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                throw EndToEndFailure("after \(limit) there is still not: \(what)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until all devices have everything that is in the database now: each has uploaded its writes, and then a
    /// new listing, committed after all of them, has reached each device. The devices must subscribe to listings.
    func quiet(_ devices: [DeviceProcess]) async throws {
        for device in devices { try await device.ask("upload") }
        let sentinel = try await insertListing("sentinel")
        for device in devices {
            try await eventually("the newest listing on device \(device.name)") {
                try DeviceFile(device.file).has("listing", sentinel)
            }
        }
    }
}
