import PostgresClient
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct EmptiedBatchTests {
    private static let fromHundred = SessionAuthority(
        user: "somebody", rulesFingerprint: 2,
        readable: { _ in .compare(PropertyPath("_id"), .greaterOrEqual, .int(100)) }, hidden: [0: [1]],
        permit: { _ in nil })

    @Test("a session whose batch gives way to one without rows is told of what comes later")
    func emptied() async throws {
        let schema = try Schema.of([Note.self])
        let isReduced = Atomic(false)
        let authorize: @Sendable (String) async throws -> SessionAuthority = { _ in
            isReduced.load(ordering: .relaxed) ? Self.fromHundred : .everything
        }
        var limits = SessionLimits()
        // For a change of the account that the feed doesn't tell of, since it came with the first tick that it saw.
        limits.authorityInterval = .milliseconds(20)
        try await GatewayFixture.with(
            schema, limits: limits,
            models: { HeldModels(schema: schema, pool: $0, authorize: authorize, gate: ReadGate()) }
        ) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            let pool = fixture.pool
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                let frame = try await device.first { if case .frame = $0 { true } else { nil } }
                #expect(frame == true)
                isReduced.store(true, ordering: .relaxed)
                try await pool.execute(
                    """
                    INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (-1, 'somebody', 'u', 1)
                    """)
                let end = try await device.firstEnd()
                #expect(end?.position.rulesFingerprint == 2)
                #expect(end?.frameCount == 0)
                try await pool.execute("INSERT INTO note (_id, text) VALUES (100, 'hundred')")
                let later = try await device.firstEnd { $0.frameCount > 0 }
                #expect(later?.frameCount == 1)
            }
        }
    }
}

/// Holds the first read up once it has found rows, until its task is cancelled.
private final class ReadGate: Sendable {
    private let isPassed = Atomic(false)

    func wait() async throws {
        guard !isPassed.exchange(true, ordering: .relaxed) else { return }
        for await _ in AsyncStream<Void>.makeStream().stream {}
        try Task.checkCancellation()
    }
}

/// One model, whose bootstraps pass a gate.
private struct HeldModels: ModelSource {
    let schema: Schema
    let pool: PostgresPool
    let authorize: @Sendable (String) async throws -> SessionAuthority
    let gate: ReadGate

    func newest() -> GatewayModel { GatewayModel(version: 1, schema: schema, authorize: authorize) }
    func newest(on schema: Schema) -> GatewayModel { newest() }
    func extend(by classes: [HelloClass]) -> Bool { false }
    func forget(_ news: AuthorityNews) {}

    func store(for schema: Schema) async throws -> any ServerStore {
        HeldStore(base: try await PostgresServerStore.open(schema: schema, pool: pool), gate: gate)
    }
}

private struct HeldStore: ServerStore {
    let base: any ServerStore
    let gate: ReadGate

    var schema: Schema { base.schema }

    func makeTick() async throws -> Tick? { try await base.makeTick() }
    func latestTick() async throws -> Tick { try await base.latestTick() }
    func tick(_ number: Int64) async throws -> Tick? { try await base.tick(number) }
    func upload(_ uploads: [Upload]) async throws -> [UploadResult] { try await base.upload(uploads) }

    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result { try await base.withReader(body) }

    func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        try await base.withBootstrapReader { try await body(HeldReader(base: $0, gate: gate)) }
    }

    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        try await base.openClient(client, user: user, acknowledged: acknowledged)
    }

    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {
        try await base.keepReadable(readable, under: rulesFingerprint)
    }

    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? {
        try await base.readable(under: rulesFingerprint)
    }
}

private struct HeldReader: TickReader {
    let base: any TickReader
    let gate: ReadGate

    var tick: Tick { base.tick }

    func difference(from: Tick) async throws -> TickDifference { try await base.difference(from: from) }

    func rows(
        classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        try await base.rows(classIndex: classIndex, matching: matching, columns: columns) { block in
            try await body(block)
            try await gate.wait()
        }
    }

    func elements(
        classIndex: Int, ofOwnersMatching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        try await base.elements(
            classIndex: classIndex, ofOwnersMatching: ofOwnersMatching, columns: columns, body)
    }

    func count(classIndex: Int, matching: Predicate) async throws -> Int {
        try await base.count(classIndex: classIndex, matching: matching)
    }

    func progress(of client: ClientID) async throws -> ClientProgress { try await base.progress(of: client) }

    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress] {
        try await base.progress(of: clients)
    }
}
