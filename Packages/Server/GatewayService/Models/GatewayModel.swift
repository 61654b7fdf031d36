public import TomboloModel
public import TomboloRules
public import TomboloSyncSession

/// What a gateway serves: classes, and what users may do with them. One value for each version of the model.
public struct GatewayModel: Sendable {
    /// Grows with every change, in the same database.
    public let version: Int64
    /// Which database it's from, as ``TomboloServerModel/ServerModel/database``.
    public let database: Int64
    public let schema: Schema
    /// What an access token allows, by the newest rules; throws ``SessionFailure`` for one that is not accepted.
    public let authorize: @Sendable (_ accessToken: String) async throws -> SessionAuthority
    /// Where rows say what a user may do.
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
