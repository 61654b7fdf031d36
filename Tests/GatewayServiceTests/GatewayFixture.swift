import Foundation
import Logging
import PostgresClient
import ServiceLifecycle
import Synchronization
import TestSupport
import Tombolo
import TomboloHTTP
import TomboloMetrics
import TomboloModel
import TomboloPostgresStore
import TomboloRedis
import TomboloRules
import TomboloSyncSession

@testable import GatewayService

extension HTTPLimits {
    /// Tolerates clients that stall before or during a request, as a test's may between any two steps.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.firstRequestTimeout = .seconds(600)
        limits.requestTimeout = .seconds(600)
        return limits
    }
}

extension SessionLimits {
    /// Tolerates devices that stall, as a test's may between any two steps.
    static var patient: SessionLimits {
        var limits = SessionLimits()
        limits.writeStallLimit = .seconds(600)
        limits.silenceLimit = .seconds(600)
        return limits
    }
}

/// A gateway and a sequencer in this process, on a database of their own with the tables of a schema. Unless a test
/// says otherwise, every device may read and write everything.
struct GatewayFixture: Sendable {
    /// The devices' sessions. They outlive their Realms and would keep connecting to whatever gets the gateway's port next.
    private final class Sessions: Sendable {
        let all = Mutex<[SyncSession]>([])
    }

    private let sessions = Sessions()
    let schema: Schema
    let pool: PostgresPool
    let folder: URL
    let app: App
    let port: Int
    let gateway: Gateway

    static func with(
        _ schema: Schema, limits: SessionLimits = .patient, http httpLimits: HTTPLimits = .patient,
        log: RecordingLog? = nil, redis: RedisAddress? = nil, metrics: MetricRegistry = MetricRegistry(),
        connectionsPerAddress: Int = Gateway.maximumConnectionCountOfAddress,
        authorize: @escaping @Sendable (String) async throws -> SessionAuthority = { _ in .everything },
        models: (@Sendable (PostgresPool) -> any ModelSource)? = nil,
        _ body: @Sendable @MainActor (GatewayFixture) async throws -> Void
    ) async throws {
        // This handler keeps the metadata, which holds request ids.
        var logger = Logger(label: "gateway-tests") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        if let log { logger = log.logger() }
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: .patient(16), logger: logger)
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        let store = try await PostgresServerStore.open(schema: schema, pool: pool, logger: logger)
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        let ticks: any TickWakeUps =
            if let redis {
                RedisTickListener(redis, logger: logger)
            } else {
                TickListener(configuration: configuration, logger: logger)
            }
        let sequencer = SequencerService(configuration: configuration, redis: redis, logger: logger)
        var limits = limits
        limits.drainTime = .zero
        limits.openingGrace = .seconds(600)
        limits.moveTimeLimit = .seconds(600)
        let gateway = Gateway(
            models: models?(pool) ?? FixedModel(store: store, authorize: authorize), limits: limits,
            connectionsPerAddress: connectionsPerAddress, metrics: metrics,
            wakeUps: { ticks.wakeUps() },
            onCommit: { sequencer.sequencer.nudge() }, logger: logger)
        let (ports, hasPort) = AsyncStream.makeStream(of: Int.self)
        let http = HTTPApplication(
            name: "gateway", host: "127.0.0.1", port: 0, limits: httpLimits, logger: logger,
            identify: { _ in .anonymous }, whenRunning: { hasPort.yield($0) }, register: { $0.addWebSocketHint() })
        let services = ServiceGroup(
            services: [
                sequencer, ticks, gateway,
                GatewayApplication(http: http, gateway: gateway),
            ], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            for await port in ports {
                let app = App(
                    id: "tests", configuration: .init(baseURL: "http://127.0.0.1:\(port)", rootDirectory: folder))
                let fixture = GatewayFixture(
                    schema: schema, pool: pool, folder: folder, app: app, port: port, gateway: gateway)
                // Wait for the sequencer here, because sessions don't wait long for it.
                try await fixture.waitForTick()
                do {
                    try await body(fixture)
                } catch {
                    await fixture.endSessions()
                    throw error
                }
                await fixture.endSessions()
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
        await pool.shutdown()
        try await FileManager.default.removeBusyFolder(at: folder)
    }

    /// Waits until the newest tick contains everything that was committed before.
    func waitForTick() async throws {
        let hasAll = """
            SELECT coalesce((SELECT NOT EXISTS (SELECT 1 FROM tombolo.changelog AS c \
            WHERE NOT pg_visible_in_snapshot(c.xid, t.snapshot)) FROM tombolo.tick AS t ORDER BY t.number DESC LIMIT 1), \
            false)
            """
        while try await !pool.query(hasAll)[0, 0].bool { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// A synced Realm with a file of its own.
    @MainActor
    func device(_ name: String, _ types: [Object.Type]) async throws -> Realm {
        let claims = Data(#"{"sub":"\#(name)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        let user = try await app.login(credentials: .accessToken("e30.\(claims).unsigned"))
        var configuration = user.flexibleSyncConfiguration()
        configuration.fileURL = folder.appending(path: "\(name).realm")
        configuration.objectTypes = types
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        if let session = realm.syncSession { sessions.all.withLock { $0.append(session) } }
        return realm
    }

    private func endSessions() async {
        for session in sessions.all.withLock({ $0 }) { await session.suspendAndWait() }
    }
}

extension SessionAuthority {
    /// The authority of a user who may read and write everything.
    static let everything = everything(for: "somebody")

    static func everything(for user: String) -> SessionAuthority {
        SessionAuthority(
            user: user, rulesFingerprint: 1, readable: { _ in .constant(true) }, permit: { _ in nil })
    }
}
