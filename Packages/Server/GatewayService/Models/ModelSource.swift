public import TomboloModel
public import TomboloSyncProtocol
public import TomboloSyncSession

/// Provides a gateway's models, and the stores that serve them.
public protocol ModelSource: Sendable {
    /// The newest model.
    func newest() async throws -> GatewayModel

    /// The newest rules applied to an older model's classes, for the sessions that use them.
    func newest(on schema: Schema) async throws -> GatewayModel

    /// The store with the rows of a model's classes.
    func store(for schema: Schema) async throws -> any ServerStore

    /// Adds what a device's classes have and the model lacks, if that is allowed.
    /// - Returns: whether there is a newer model now.
    /// - Throws: ``SessionFailure`` if the classes contradict the model.
    func extend(by classes: [HelloClass]) async throws -> Bool

    /// Discards everything remembered about the users in the news, because it may have changed.
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
