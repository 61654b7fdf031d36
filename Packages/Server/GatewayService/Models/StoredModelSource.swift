public import Logging
public import PostgresClient
public import TomboloAuthentication
public import TomboloModel
public import TomboloPostgresStore
internal import TomboloRules
public import TomboloServerModel
public import TomboloSyncProtocol
public import TomboloSyncSession

/// Serves the model whose documents are in the database, along with the rows stored there.
public struct StoredModelSource: ModelSource {
    private let models: ServerModels
    private let pool: PostgresPool
    private let standby: PostgresStandby?
    private let authenticator: Authenticator
    private let development: DevelopmentMode?
    private let logger: Logger
    /// The users whose devices are connected.
    var users: ConnectedUsers?

    /// - Parameters:
    ///   - standby: the standby to read bootstraps from while it's usable, or nil for the primary only.
    ///   - development: adds classes that devices bring; nil in production.
    public init(
        models: ServerModels, pool: PostgresPool, standby: PostgresStandby? = nil, authenticator: Authenticator,
        development: DevelopmentMode? = nil,
        logger: Logger
    ) {
        self.models = models
        self.pool = pool
        self.standby = standby
        self.authenticator = authenticator
        self.development = development
        self.logger = logger
    }

    public func newest() async throws -> GatewayModel {
        let newest = try await models.refresh()
        return model(newest, newest.rules)
    }

    public func newest(on schema: Schema) async throws -> GatewayModel {
        let newest = models.current
        return model(newest, try newest.rules(on: schema))
    }

    private func model(_ model: ServerModel, _ rules: Rules) -> GatewayModel {
        let authorizer = SessionAuthorizer(authenticator: authenticator, rules: rules)
        return GatewayModel(
            version: model.version, database: model.database, schema: rules.schema, grants: rules.grantColumns
        ) {
            try await authorizer.authorize($0)
        }
    }

    public func store(for schema: Schema) async throws -> any ServerStore {
        try await PostgresServerStore.open(
            schema: schema, pool: pool, standby: standby, hasOthers: { [users] in users?.areSeveral ?? false },
            logger: logger)
    }

    public func extend(by classes: [HelloClass]) async throws -> Bool {
        guard let development else { return false }
        return try await development.extend(models.refresh(), by: classes)
    }

    public func forget(_ news: AuthorityNews) {
        guard !news.hasNewDocuments else { return authenticator.forgetRoles() }
        for user in news.users {
            if let userID = try? ObjectId(string: user) { authenticator.forget(userID) }
        }
    }
}
