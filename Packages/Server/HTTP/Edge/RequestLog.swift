import Synchronization
public import TomboloModel

/// The latest requests of a server process, in bounded memory. Administrators look at them when something is slow or
/// fails. An entry has the path of the route, and no value that a caller put into the address, the headers or the body.
///
/// The log can also queue requests to be written into a database. That costs each request one more append under the
/// same lock.
public final class RequestLog: Sendable {
    /// How many requests of any kind are kept.
    public static let maximumCount = 1_000
    /// How many slow requests, and how many failed ones, are kept. They stay longer than the others.
    public static let maximumNotableCount = 200
    /// A request that took this long counts as slow.
    public static let slowDuration = Duration.seconds(1)
    /// How many minutes have counters.
    public static let minuteCount = 60
    /// Longer methods are cut, in bytes: callers can send anything.
    private static let maximumMethodByteCount = 16

    /// One request with its answer.
    public struct Entry: Hashable, Sendable {
        /// When the request ended, in microseconds since 1970.
        public let time: Int64
        public let method: String
        /// The route's path with the names of its parameters; nil if the address matches no route.
        public let route: String?
        public let status: Int
        public let duration: Duration
        /// The user who was logged in; nil for nobody.
        public let userID: ObjectId?
        public let address: String
        /// The id in the header `X-Request-Id` and in the server's log.
        public let requestID: String

        package init(
            time: Int64, method: String, route: String?, status: Int, duration: Duration, userID: ObjectId?,
            address: String, requestID: String
        ) {
            self.time = time
            self.method = method
            self.route = route
            self.status = status
            self.duration = duration
            self.userID = userID
            self.address = address
            self.requestID = requestID
        }

        public var isSlow: Bool { duration >= RequestLog.slowDuration }
        /// Whether the caller asked for something that doesn't exist, isn't permitted or makes no sense.
        public var isRefused: Bool { (400...499).contains(status) }
        /// Whether the server couldn't answer the request.
        public var isFailed: Bool { status >= 500 }
    }

    /// The answers of one minute.
    public struct Minute: Hashable, Sendable {
        /// Minutes since 1970.
        public let number: Int64
        public var requests = 0
        /// Answers with a status from 400 to 499.
        public var refused = 0
        /// Answers with a status from 500 on.
        public var failed = 0
    }

    /// The kinds of requests that can be listed.
    public enum Kind: String, CaseIterable, Sendable {
        case all, slow, refused, failed
    }

    private struct State {
        var entries: [Kind: RecentEntries] = [
            .all: RecentEntries(capacity: maximumCount), .slow: RecentEntries(capacity: maximumNotableCount),
            .refused: RecentEntries(capacity: maximumNotableCount),
            .failed: RecentEntries(capacity: maximumNotableCount),
        ]
        /// Indexed by the number of the minute modulo their count.
        var minutes = (0..<minuteCount).map { Minute(number: Int64($0) - Int64(minuteCount)) }
        var queue: RequestQueue
    }

    private let state: Mutex<State>

    /// - Parameter queueCapacity: how many requests may wait to be written; 0 if nothing writes them.
    public init(queueCapacity: Int = 0) {
        state = Mutex(State(queue: RequestQueue(capacity: queueCapacity)))
    }

    package func add(_ entry: Entry) {
        state.withLock { state in
            state.entries[.all]?.append(entry)
            if entry.isSlow { state.entries[.slow]?.append(entry) }
            if entry.isRefused { state.entries[.refused]?.append(entry) }
            if entry.isFailed { state.entries[.failed]?.append(entry) }
            state.queue.append(entry)
            let number = entry.time / 60_000_000
            let index = Int(number % Int64(Self.minuteCount))
            // If the clock was set back, a request may seem to have ended long ago. It isn't counted.
            if state.minutes[index].number < number { state.minutes[index] = Minute(number: number) }
            guard state.minutes[index].number == number else { return }
            state.minutes[index].requests += 1
            if entry.isFailed {
                state.minutes[index].failed += 1
            } else if entry.isRefused {
                state.minutes[index].refused += 1
            }
        }
    }

    /// The newest first.
    public func entries(_ kind: Kind) -> [Entry] { state.withLock { $0.entries[kind]?.newestFirst ?? [] } }

    /// The last ``minuteCount`` minutes, oldest first, including those without requests.
    /// - Parameter now: in microseconds since 1970.
    public func minutes(now: Int64) -> [Minute] {
        let last = now / 60_000_000
        let known = state.withLock { $0.minutes }
        return (0..<Int64(Self.minuteCount)).reversed().map { age in
            known.first { $0.number == last - age } ?? Minute(number: last - age)
        }
    }

    /// Removes the oldest queued requests. The caller writes them, or reports them to ``giveUp(_:)``.
    package func takeQueued(_ count: Int) -> [Entry] { state.withLock { $0.queue.take(count) } }

    /// Counts requests that were taken but can't be written.
    package func giveUp(_ count: Int) { state.withLock { $0.queue.giveUp(count) } }

    /// How many requests were queued, or should have been, and will never be written.
    package var droppedCount: Int { state.withLock { $0.queue.droppedCount } }

    /// A method as it's kept.
    static func method(_ text: String) -> String { text.shortened(toByteCount: maximumMethodByteCount) }
}
