public import TomboloModel
public import TomboloSyncProtocol
public import TomboloSyncSession

/// Where a gateway's models come from, and the stores that serve them.
public protocol ModelSource: Sendable {
    /// The newest model.
    func newest() async throws -> GatewayModel

    /// The newest rules on the classes of an older model, for its sessions.
    func newest(on schema: Schema) async throws -> GatewayModel

    /// The rows of a model's classes.
    func store(for schema: Schema) async throws -> any ServerStore

    /// Adds what a device's classes have and the model lacks, where that is allowed.
    /// - Returns: whether there is a newer model now.
    /// - Throws: ``SessionFailure`` if the classes contradict the model.
    func extend(by classes: [HelloClass]) async throws -> Bool

    /// Something is known to have changed: nothing remembered of these users counts any more.
    func forget(_ news: AuthorityNews) async
}

/// One model that never changes, for tests and benchmarks.
struct FixedModel: ModelSource {
    let store: any ServerStore
    let authorize: @Sendable (String) async throws -> SessionAuthority

    func newest() -> GatewayModel { GatewayModel(version: 1, schema: store.schema, authorize: authorize) }
    func newest(on schema: Schema) -> GatewayModel { newest() }
    func store(for schema: Schema) -> any ServerStore { store }
    func extend(by classes: [HelloClass]) -> Bool { false }
    func forget(_ news: AuthorityNews) {}
}
