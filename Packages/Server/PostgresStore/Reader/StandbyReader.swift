internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads a standby under a ``StandbyWatch``.
struct StandbyReader: TickReader {
    let base: PostgresTickReader
    let watch: StandbyWatch

    var tick: Tick { base.tick }

    func difference(from tick: Tick) async throws -> TickDifference {
        watch.asks()
        let difference = try await base.difference(from: tick)
        try watch.answered()
        return difference
    }

    func rows(
        classIndex: Int, matching predicate: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        watch.asks()
        try await base.rows(classIndex: classIndex, matching: predicate, columns: columns) { block in
            try watch.answered()
            try await body(block)
            watch.asks()
        }
        try watch.answered()
    }

    func elements(
        classIndex: Int, ofOwnersMatching predicate: Predicate, columns: [Int],
        _ body: (RowBlock) async throws -> Void
    ) async throws {
        watch.asks()
        try await base.elements(classIndex: classIndex, ofOwnersMatching: predicate, columns: columns) { block in
            try watch.answered()
            try await body(block)
            watch.asks()
        }
        try watch.answered()
    }

    func count(classIndex: Int, matching predicate: Predicate) async throws -> Int {
        watch.asks()
        let count = try await base.count(classIndex: classIndex, matching: predicate)
        try watch.answered()
        return count
    }

    func progress(of client: ClientID) async throws -> ClientProgress {
        watch.asks()
        let progress = try await base.progress(of: client)
        try watch.answered()
        return progress
    }

    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress] {
        watch.asks()
        let progress = try await base.progress(of: clients)
        try watch.answered()
        return progress
    }
}
