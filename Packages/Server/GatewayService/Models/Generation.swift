internal import Logging
internal import Synchronization
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// What sessions share that are served with the same classes. The schema never changes, so that the positions of classes
/// and columns, which code passes around, mean the same for as long as a session lasts; the rules may be replaced.
final class Generation: Sendable {
    /// The model's rules as they are now, on the generation's classes.
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

    /// Fingerprints whose meaning was kept lately.
    private let kept = Mutex<Set<UInt64>>([])
    static let maximumKeptCount = 10_000

    /// What an access token allows. What it lets a user read is kept, for their devices that come back when it is
    /// something else.
    /// - Throws: ``SessionFailure`` for a token that is not accepted; another error when the database doesn't answer.
    func authorize(_ accessToken: String) async throws -> SessionAuthority {
        let authority = try await rules.model.authorize(accessToken)
        let fingerprint = authority.rulesFingerprint
        if kept.withLock({ $0.contains(fingerprint) }) { return authority }
        // Which values a device has is not kept: it gets everything anew when such rules change.
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
