public import PostgresClient
internal import Synchronization
public import TomboloAuthentication
public import TomboloRules

/// The model of a server process as it is now: read when the server starts, and again when it changed.
public final class ServerModels: Sendable {
    let pool: PostgresPool
    let isOpen: Bool
    private let newest: Mutex<ServerModel>

    /// Reads the documents.
    /// - Parameter isOpen: whether everybody who is logged in may use the classes without rules.
    /// - Throws: ``ServerModelError``, or the database's error.
    public static func load(_ pool: PostgresPool, isOpen: Bool = false) async throws -> ServerModels {
        ServerModels(pool: pool, isOpen: isOpen, try await read(pool, isOpen))
    }

    private init(pool: PostgresPool, isOpen: Bool, _ model: ServerModel) {
        self.pool = pool
        self.isOpen = isOpen
        newest = Mutex(model)
    }

    public var current: ServerModel { newest.withLock { $0 } }
    public var rules: Rules { newest.withLock { $0.rules } }

    /// The newest rules, on the newest classes.
    public func liveRules() -> LiveRules { LiveRules { self.rules } }

    /// For ``Authenticator``.
    public var grants: [GrantSource] { newest.withLock { $0.grants } }

    /// Takes the newest documents, if there are newer ones. A model that can't be made leaves the one before.
    /// - Returns: the model that counts now.
    /// - Throws: ``ServerModelError``, or the database's error.
    @discardableResult
    public func refresh() async throws -> ServerModel {
        let before = current
        guard try await pool.withConnection({ try await DocumentTable.version($0) }) != before.version else {
            return before
        }
        let model = try await Self.read(pool, isOpen)
        return newest.withLock { newest in
            // Of two that read at the same time the newer one counts.
            if model.version > newest.version { newest = model }
            return newest
        }
    }

    private static func read(_ pool: PostgresPool, _ isOpen: Bool) async throws -> ServerModel {
        try ServerModel(try await pool.withConnection { try await DocumentTable.newest($0) }, isOpen: isOpen)
    }
}
