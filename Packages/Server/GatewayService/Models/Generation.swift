internal import Logging
internal import Synchronization
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// What sessions with the same classes share. Its schema never changes, so the positions of classes and columns that
/// code passes around stay valid for as long as a session lasts. Its rules may be replaced.
final class Generation: Sendable {
    /// The model's current rules, applied to the generation's classes.
    final class Rules: Sendable {
        private let newest: Mutex<GatewayModel>

        init(_ model: GatewayModel) { newest = Mutex(model) }

        var model: GatewayModel { newest.withLock { $0 } }

        func replace(with model: GatewayModel) { newest.withLock { $0 = model } }
    }

    let number: Int
    let store: any ServerStore
    let feed: TickFeed
    let uploads: UploadQueue
    let codec: MessageCodec
    let traces: UploadTraces
    let rules: Rules

    init(
        number: Int, model: GatewayModel, store: any ServerStore,
        users: ConnectedUsers, onNews: @escaping @Sendable (AuthorityNews) async -> Void,
        onCommit: @escaping @Sendable () -> Void, metrics: GatewayMetrics, logger: Logger
    ) {
        let rules = Rules(model)
        let traces = UploadTraces()
        self.traces = traces
        self.number = number
        self.store = store
        self.rules = rules
        codec = MessageCodec(schema: store.schema)
        let backlog = UploadBacklog()
        let uploads = UploadQueue(
            store: store, backlog: backlog, users: users, onCommit: onCommit, onGroup: { metrics.note($0) })
        self.uploads = uploads
        feed = TickFeed(
            store: store, grants: { rules.model.grants }, onNews: onNews, onTick: { metrics.note($0) }, traces: traces,
            backlog: backlog, onRoom: { [weak uploads] in await uploads?.goOn() }, logger: logger)
    }

    /// Fingerprints whose predicates were stored recently.
    private let kept = Mutex<Set<UInt64>>([])
    static let maximumKeptCount = 10_000

    /// Returns what an access token allows. Also stores what the user may read, for their devices that come back
    /// after that has changed.
    /// - Throws: ``SessionFailure`` for a token that isn't accepted, or another error if the database doesn't answer.
    func authorize(_ accessToken: String) async throws -> SessionAuthority {
        let authority = try await rules.model.authorize(accessToken)
        let fingerprint = authority.rulesFingerprint
        if kept.withLock({ $0.contains(fingerprint) }) { return authority }
        // The store doesn't record which values of an object a device has, so a device downloads everything again
        // when rules that hide values change.
        guard authority.hidden.isEmpty else { return authority }
        let readable = store.schema.classes.indices.map { ($0, authority.readable($0)) }
        try await store.keepReadable(Dictionary(uniqueKeysWithValues: readable), under: fingerprint)
        kept.withLock { kept in
            if kept.count >= Self.maximumKeptCount { kept = [] }
            kept.insert(fingerprint)
        }
        return authority
    }
}
