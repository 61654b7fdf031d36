public import PostgresClient
internal import Synchronization
public import TomboloAuthentication
public import TomboloRules

/// A server process's current model: read at startup, and again when it changed.
public final class ServerModels: Sendable {
    let pool: PostgresPool
    let isOpen: Bool
    private let state: Mutex<State>

    private struct State: Sendable {
        var newest: Reading
        /// The number of readings that were started.
        var count = 0
    }

    private struct Reading: Sendable {
        let model: ServerModel
        /// Its number among all readings, in the order in which they were started.
        let number: Int

        /// Of two readings at the same time, the newer one wins.
        func replaces(_ other: Reading) -> Bool {
            model.database == other.model.database ? model.version > other.model.version : number > other.number
        }
    }

    /// Reads the documents.
    /// - Parameter isOpen: whether everybody who is logged in may use the classes without rules.
    /// - Throws: ``ServerModelError``, or the database's error.
    public static func load(_ pool: PostgresPool, isOpen: Bool = false) async throws -> ServerModels {
        ServerModels(pool: pool, isOpen: isOpen, try await read(pool, isOpen))
    }

    private init(pool: PostgresPool, isOpen: Bool, _ model: ServerModel) {
        self.pool = pool
        self.isOpen = isOpen
        state = Mutex(State(newest: Reading(model: model, number: 0)))
    }

    public var current: ServerModel { state.withLock { $0.newest.model } }
    public var rules: Rules { state.withLock { $0.newest.model.rules } }

    /// The newest rules, on the newest classes.
    public func liveRules() -> LiveRules { LiveRules { self.rules } }

    /// For ``Authenticator``.
    public var grants: [GrantSource] { state.withLock { $0.newest.model.grants } }

    /// Takes the newest documents if there are newer ones, or those of a database that replaced the previous one. If
    /// no model can be made from them, the previous one stays.
    /// - Returns: the model that is now in effect.
    /// - Throws: ``ServerModelError``, or the database's error.
    @discardableResult
    public func refresh() async throws -> ServerModel {
        let (before, number) = state.withLock { state in
            state.count += 1
            return (state.newest.model, state.count)
        }
        let place = try await pool.withConnection { try await DocumentTable.place($0) }
        guard place != (before.version, before.database) else { return before }
        let reading = Reading(model: try await Self.read(pool, isOpen), number: number)
        return state.withLock { state in
            if reading.replaces(state.newest) { state.newest = reading }
            return state.newest.model
        }
    }

    private static func read(_ pool: PostgresPool, _ isOpen: Bool) async throws -> ServerModel {
        let (documents, database) = try await pool.withConnection { connection in
            (try await DocumentTable.newest(connection), try await DocumentTable.place(connection).database)
        }
        var model = try ServerModel(documents, isOpen: isOpen)
        model.database = database
        return model
    }
}
