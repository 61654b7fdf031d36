/// Why a pool didn't lend a connection.
public enum PostgresPoolError: Error, Sendable, Equatable, CustomStringConvertible {
    case tooManyWaiters(limit: Int)
    case timedOut(after: Duration, size: Int)
    case shutDown

    public var description: String {
        switch self {
        case .tooManyWaiters(let limit):
            "the PostgreSQL pool refused a request because \(limit) others are already waiting; "
                + "shed load, use fewer tasks at once, or raise maximumWaiters"
        case .timedOut(let limit, let size):
            "no PostgreSQL connection became free within \(limit): all \(size) are in use; "
                + "look for long transactions, or raise the pool's maximumConnections"
        case .shutDown:
            "the PostgreSQL pool has been shut down"
        }
    }
}
