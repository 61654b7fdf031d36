import Synchronization
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// A store that applies every upload and remembers which changesets came together.
final class RecordingStore: ServerStore {
    struct NotRecorded: Error {}

    let schema: Schema
    private let recorded = Mutex<[[Int64]]>([])

    private let hold: @Sendable ([Upload]) async throws -> Void

    /// - Parameter hold: called after uploads are recorded and before they are answered. If it throws, that is the answer.
    init(schema: Schema, hold: @escaping @Sendable ([Upload]) async throws -> Void = { _ in }) {
        self.schema = schema
        self.hold = hold
    }

    var groups: [[Int64]] { recorded.withLock { $0 } }

    func upload(_ uploads: [Upload]) async throws -> [UploadResult] {
        recorded.withLock { $0.append(uploads.map(\.changeset.number)) }
        try await hold(uploads)
        return uploads.map { _ in .applied(lost: 0) }
    }

    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {}

    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? { nil }

    func makeTick() async throws -> Tick? { nil }

    func latestTick() async throws -> Tick { .origin }

    func tick(_ number: Int64) async throws -> Tick? { nil }

    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result { throw NotRecorded() }

    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        throw NotRecorded()
    }
}
