import PostgresClient
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// One model, in a database whose bootstraps and uploads a test holds up.
struct HeldModels: ModelSource {
    let schema: Schema
    let pool: PostgresPool
    var authorize: @Sendable (String) async throws -> SessionAuthority = { _ in .everything }
    var holdRead: @Sendable () async throws -> Void = {}
    var holdUpload: @Sendable ([Upload]) async -> Void = { _ in }
    var holdReadable: @Sendable (UInt64) async -> Void = { _ in }

    func newest() -> GatewayModel { GatewayModel(version: 1, schema: schema, authorize: authorize) }
    func newest(on schema: Schema) -> GatewayModel { newest() }
    func extend(by classes: [HelloClass]) -> Bool { false }
    func forget(_ news: AuthorityNews) {}

    func store(for schema: Schema) async throws -> any ServerStore {
        HeldStore(
            base: try await PostgresServerStore.open(schema: schema, pool: pool), holdRead: holdRead,
            holdUpload: holdUpload, holdReadable: holdReadable)
    }
}

struct HeldStore: ServerStore {
    let base: any ServerStore
    /// Called for each block of rows of a bootstrap, after the block was handed over.
    let holdRead: @Sendable () async throws -> Void
    /// Called for each group of uploads before it is applied.
    let holdUpload: @Sendable ([Upload]) async -> Void
    /// Called with the fingerprint of a user's rules, before what the user may read is stored.
    let holdReadable: @Sendable (UInt64) async -> Void

    var schema: Schema { base.schema }

    func makeTick() async throws -> Tick? { try await base.makeTick() }
    func latestTick() async throws -> Tick { try await base.latestTick() }
    func tick(_ number: Int64) async throws -> Tick? { try await base.tick(number) }

    func upload(_ uploads: [Upload]) async throws -> [UploadResult] {
        await holdUpload(uploads)
        return try await base.upload(uploads)
    }

    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result { try await base.withReader(body) }

    func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        try await base.withBootstrapReader { try await body(HeldReader(base: $0, hold: holdRead)) }
    }

    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        try await base.openClient(client, user: user, acknowledged: acknowledged)
    }

    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {
        await holdReadable(rulesFingerprint)
        try await base.keepReadable(readable, under: rulesFingerprint)
    }

    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? {
        try await base.readable(under: rulesFingerprint)
    }
}

private struct HeldReader: TickReader {
    let base: any TickReader
    let hold: @Sendable () async throws -> Void

    var tick: Tick { base.tick }

    func difference(from: Tick) async throws -> TickDifference { try await base.difference(from: from) }

    func rows(
        classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        try await base.rows(classIndex: classIndex, matching: matching, columns: columns) { block in
            try await body(block)
            try await hold()
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
