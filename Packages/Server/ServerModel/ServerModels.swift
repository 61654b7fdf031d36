public import PostgresClient
internal import Synchronization
public import TomboloAuthentication
public import TomboloRules

/// The model of a server process as it is now: read when the server starts, and again when it changed.
public final class ServerModels: Sendable {
    let pool: PostgresPool
    let isOpen: Bool
    private let state: Mutex<State>

    private struct State: Sendable {
        var newest: Reading
        /// Readings that were begun.
        var count = 0
    }

    private struct Reading: Sendable {
        let model: ServerModel
        /// Its place among all, by when they were begun.
        let number: Int

        /// Of two that were read at the same time the newer one counts.
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

    /// Takes the newest documents, if there are newer ones, and whatever there is in a database that replaced the one before.
    /// A model that can't be made leaves the one before.
    /// - Returns: the model that counts now.
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
