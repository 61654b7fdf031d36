import Synchronization

/// Records when values arrive in a device's file: after each batch, it reads the file through its own connection.
///
/// It's used on the engine's thread. `arrivals` is read once the engine has stopped.
final class LatencyDevice: Sendable {
    struct Arrival: Codable, Sendable {
        var commit: Int
        var nanoseconds: Int64
    }

    private struct State {
        /// Opened and used only on the engine's thread, under the lock.
        var select: SQLiteRowStatement?
        var newest: Int64 = 0
        var arrivals: [Arrival] = []
    }

    private let path: String
    private let state = Mutex(State())

    init(path: String) { self.path = path }

    /// Reads the values that are newer than at the last call.
    func look() throws {
        try state.withLock { state in
            if state.select == nil {
                state.select = try SQLiteFile(path: path).prepare("SELECT price FROM listing WHERE price > ?")
            }
            guard let select = state.select else { return }
            select.bind(state.newest, at: 1)
            var found: [Int64] = []
            while try select.step() { found.append(select.integer(0)) }
            select.reset()
            let now = Monotonic.nanoseconds
            for price in found { state.arrivals.append(Arrival(commit: Int(price), nanoseconds: now)) }
            state.newest = max(state.newest, found.max() ?? 0)
        }
    }

    /// Returns the arrivals since the last call.
    func takeArrivals() -> [Arrival] {
        state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
    }
}
