import Synchronization
public import TomboloModel

/// The latest requests of a server process, in memory and bounded: what an administrator looks at when something is slow or
/// fails. It has the path of the route, and no value that a caller put into the address, the headers or the body.
///
/// It can also queue requests that are to be written into a database, which costs each request one more append under the same lock.
public final class RequestLog: Sendable {
    /// Requests that are kept, of all.
    public static let maximumCount = 1_000
    /// Those that took long, and those that failed, are kept for longer: so many of each.
    public static let maximumNotableCount = 200
    /// A request that took so long is a slow one.
    public static let slowDuration = Duration.seconds(1)
    /// How many minutes are counted.
    public static let minuteCount = 60
    /// Longer methods are cut, in bytes: they may be anything.
    private static let maximumMethodByteCount = 16

    /// One request with its answer.
    public struct Entry: Hashable, Sendable {
        /// Of its end, in microseconds since 1970.
        public let time: Int64
        public let method: String
        /// The route's path, with the names of its parameters; nil for an address of no route.
        public let route: String?
        public let status: Int
        public let duration: Duration
        /// Who was logged in; nil for nobody.
        public let userID: ObjectId?
        public let address: String
        /// As in the header `X-Request-Id`, and in the server's log.
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
        /// Whether the caller asked for what isn't there, isn't permitted or makes no sense.
        public var isRefused: Bool { (400...499).contains(status) }
        /// Whether the server couldn't answer it.
        public var isFailed: Bool { status >= 500 }
    }

    /// What was answered in one minute.
    public struct Minute: Hashable, Sendable {
        /// Minutes since 1970.
        public let number: Int64
        public var requests = 0
        /// Answers with a status from 400 to 499.
        public var refused = 0
        /// Answers with a status from 500 on.
        public var failed = 0
    }

    /// Which requests are asked for.
    public enum Kind: String, CaseIterable, Sendable {
        case all, slow, refused, failed
    }

    private struct State {
        var entries: [Kind: RecentEntries] = [
            .all: RecentEntries(capacity: maximumCount), .slow: RecentEntries(capacity: maximumNotableCount),
            .refused: RecentEntries(capacity: maximumNotableCount),
            .failed: RecentEntries(capacity: maximumNotableCount),
        ]
        /// At the number of the minute modulo their count.
        var minutes = (0..<minuteCount).map { Minute(number: Int64($0) - Int64(minuteCount)) }
        var queue: RequestQueue
    }

    private let state: Mutex<State>

    /// - Parameter queueCapacity: how many requests may wait to be written; 0 where nobody writes them.
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
            // One that ended long ago, by a clock that was set back, counts for nothing.
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

    /// The last ``minuteCount`` minutes, the oldest first; those without requests too.
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

    /// Counts requests that were taken and can't be written.
    package func giveUp(_ count: Int) { state.withLock { $0.queue.giveUp(count) } }

    /// Requests that were to be written and never will be.
    package var droppedCount: Int { state.withLock { $0.queue.droppedCount } }

    /// A method as it's kept.
    static func method(_ text: String) -> String { text.shortened(toByteCount: maximumMethodByteCount) }
}
