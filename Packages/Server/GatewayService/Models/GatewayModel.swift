public import TomboloModel
public import TomboloRules
public import TomboloSyncSession

/// What a gateway serves: classes, and what users may do with them. There is one value for each version of the model.
public struct GatewayModel: Sendable {
    /// Increases with every change in the same database.
    public let version: Int64
    /// The database it's from; see ``TomboloServerModel/ServerModel/database``.
    public let database: Int64
    public let schema: Schema
    /// Returns what an access token allows by the newest rules. Throws ``SessionFailure`` for a token that isn't
    /// accepted.
    public let authorize: @Sendable (_ accessToken: String) async throws -> SessionAuthority
    /// The columns from which rows grant users something.
    public let grants: [GrantColumns]

    public init(
        version: Int64, database: Int64 = 0, schema: Schema, grants: [GrantColumns] = [],
        authorize: @escaping @Sendable (_ accessToken: String) async throws -> SessionAuthority
    ) {
        self.version = version
        self.database = database
        self.schema = schema
        self.grants = grants
        self.authorize = authorize
    }
}
