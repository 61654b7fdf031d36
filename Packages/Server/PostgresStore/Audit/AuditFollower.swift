public import Logging
public import PostgresClient
internal import TomboloLocalization

/// Fills the audit log. It copies the changelog rows beyond the log's position, and the objects that existed before
/// the log began. Any number of processes may run one; the process that works locks the position's row.
///
/// Each step is one statement that adds entries and moves the position, so a killed process loses nothing and copies
/// nothing twice.
public struct AuditFollower: Sendable {
    /// How long to wait when there is nothing to copy.
    public static let interval = Duration.milliseconds(500)
    /// How long to wait after an error.
    public static let errorDelay = Duration.seconds(2)
    /// How often to look for expired months. An administrator can also request a run.
    public static let expiryInterval = Duration.seconds(3_600)
    /// Changelog rows that one step copies.
    public static let copyLimit = 4_000
    /// Objects from before the log that one step adds.
    public static let baselineLimit = 2_000

    /// The outcome of a step.
    public enum Step: Hashable, Sendable {
        /// Entries were added, or the position moved.
        case added(Int)
        /// The log has everything that the newest tick sees, and all objects from before it began.
        case upToDate
        /// Another session is copying.
        case busy
    }

    private let pool: PostgresPool
    private let logger: Logger
    private let limits: (copy: Int, baseline: Int)

    /// - Parameter pool: its user needs the functions `audit_copy`, `audit_baseline` and `audit_expire`.
    public init(pool: PostgresPool, logger: Logger = Logger(label: "tombolo.audit")) {
        self.init(pool: pool, limits: (Self.copyLimit, Self.baselineLimit), logger: logger)
    }

    init(pool: PostgresPool, limits: (copy: Int, baseline: Int), logger: Logger = Logger(label: "tombolo.audit")) {
        self.pool = pool
        self.limits = limits
        self.logger = logger
    }

    /// Copies a bounded amount.
    /// - Throws: the database's error. Nothing was added then.
    public func step() async throws -> Step {
        let copied = try await call("audit_copy", limits.copy)
        if copied >= 0 { return .added(Int(copied)) }
        if copied == SystemFunction.AuditAnswer.busy { return .busy }
        let added = try await call("audit_baseline", limits.baseline)
        if added >= 0 { return .added(Int(added)) }
        return added == SystemFunction.AuditAnswer.busy ? .busy : .upToDate
    }

    /// Copies until the log has everything that the newest tick sees.
    /// - Returns: the number of entries.
    @discardableResult
    public func catchUp() async throws -> Int {
        var count = 0
        while true {
            switch try await step() {
            case .added(let added): count += added
            case .upToDate: return count
            case .busy: try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Copies until the task is cancelled. Errors are logged, and the next step retries.
    public func run() async {
        var expiry = RoutineTimer(.auditExpiry, every: Self.expiryInterval, in: pool)
        while !Task.isCancelled {
            var delay = Self.interval
            do {
                if case .added = try await step() { delay = .zero }
                try await expiry.runIfDue(expire)
            } catch is CancellationError {
                return
            } catch {
                logger.warning("Can't copy changes into the audit log; retrying: \(error)")
                delay = Self.errorDelay
            }
            if delay > .zero { try? await Task.sleep(for: delay) }
        }
    }

    private func expire() async throws -> [StoredMessage] {
        let dropped = Int(try await pool.query("SELECT tombolo.audit_expire()")[0, 0].int64)
        if dropped > 0 { logger.notice("The audit log dropped \(dropped) months that it doesn't have to keep.") }
        return [StoredMessage(dropped, one: "\(dropped) month was dropped", other: "\(dropped) months were dropped")]
    }

    private func call(_ function: String, _ limit: Int) async throws -> Int64 {
        try await pool.query("SELECT tombolo.\(function)($1::integer)", [.int64(Int64(limit))])[0, 0].int64
    }
}
